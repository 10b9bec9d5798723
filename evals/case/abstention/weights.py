"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = -3.79
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {
    "asks for two things": -1.35,
    "clauses": 0.17,
    "core at first": -0.46,
    "core in the last only": 0.29,
    "core nowhere": 0.38,
    "courtesy": 0.4,
    "declined by the speaker": -0.74,
    "declined in a concession": -2.01,
    "declined, all of it": 0.78,
    "declined, asked for": 2.35,
    "declined, first asked for": -0.33,
    "declined, kind asked for": -0.15,
    "declined, not told before": 1.35,
    "declined, of the question": 1.46,
    "declined, of what was said": -0.54,
    "declined, only more": -2.05,
    "declined, what was asked": 0.22,
    "declined, what was not asked": -0.93,
    "declined, whether": -0.55,
    "declines": 1.24,
    "declines at first": 0.88,
    "declines at last": 1.16,
    "declines, times": 0.99,
    "denied at last, asked": 0.84,
    "denied at last, something else": 0.09,
    "denied, named at its beginning": -0.69,
    "denied, the core": 0.86,
    "denies at first": -0.93,
    "describes the sources": 0.62,
    "first, from the question": -1.78,
    "gives other": 0.03,
    "gives person": -0.49,
    "gives place": -0.26,
    "gives reason": -1.02,
    "gives time": -0.49,
    "gives yes or no": 0.44,
    "guesses": -1.65,
    "lacks its kind": 1.14,
    "lacks number": -0.07,
    "lacks person": 0.45,
    "left open before": 0.13,
    "new in the last": 0.5,
    "new name": -0.36,
    "new number": -1.06,
    "sentences": 0.03,
    "short": -0.21,
    "stated before": -0.43,
    "stated before, of two things": -2.13,
    "stated behind": -1.45,
    "stated behind, of the question": -1.15,
    "stated, a number": 0.72,
    "stated, no number though asked for": 0.63,
    "stated, of the question": 0.32,
    "stated, words": 0.02,
    "states nothing but what sources hold": 2.22,
    "taken up": 0.71,
    "taken up in the first": -0.86,
    "taken up in the last": -1.92,
    "wants number": 0.58,
    "wants other": 0.03,
    "wants person": -0.04,
    "wants place": -1.11,
    "wants time": 0.14,
    "wants yes or no": 0.44,
}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {
    "aimed": """
        about 0.45; about source -0.38; about trace 0.09; about who 0.52; access be -0.35; appear 0.21; be -0.06; be
        can 0.07; be from -0.31; be given 0.47; be hold -0.1; be limit -0.11; be me 0.16; be not 0.22; be said 0.49;
        be say -0.03; be this -0.64; be told -0.09; be unknown 0.32; be unreadable 0.11; be who -0.19; can from 0.34;
        contact source -0.83; contract does 0.88; contract say 0.87; contract tell_of 0.6; data does 0.19; data find
        0.36; data not 0.12; differ 0.11; does find 0.59; does it 0.94; does not -0.26; does say 0.16; does who 0.39;
        elsewhere find 0.06; elsewhere from -0.12; enough from -0.37; enough given -0.59; find given -0.41; find have
        0.07; find held -0.14; find it 0.32; find perhaps -0.32; find tell_of -0.45; find text 0.49; find told -0.2;
        find who 0.02; from 0.59; from given -0.31; from hold -0.26; from leave -0.67; from me -0.32; from source
        0.28; from tell_of -0.67; from unknown -0.6; from who 0.48; given -0.15; given source -0.09; given that 0.52;
        held not 0.34; held say -0.03; hold trace -0.56; it -0.5; it text 0.79; it told -0.58; it which 0.05; it who
        1.01; limit 0.56; limit not 0.34; limit said 0.49; limit say 0.21; me 0.52; me trace 0.67; me who 0.05; more
        0.71; more not -0.37; none -0.02; none said 0.55; none say 0.11; none text 0.4; none trace 0.12; not -0.82;
        not said 0.6; not tell_of 0.6; not text 0.18; not who 0.3; only 0.22; perhaps source -0.14; said 0.14; said
        source 0.45; say 0.2; say source -0.2; say text 0.38; say that -0.07; say which 0.86; say who 0.4; source
        0.07; source text -0.1; source told 0.04; source unknown -0.53; source who 0.29; tell_of that 0.65; tell_of
        told -0.03; text -0.1; text that -0.6; text there -0.96; that who 0.29; there 0.41; this told -0.45; told
        -0.12; trace 0.32; unknown -0.06; unreadable 0.31; who 0.05
    """,
    "any": """
        about -0.45; about data -0.37; about does -0.23; about from -1.11; about not -0.46; about said -0.36; about
        source -0.04; about tell_of 0.69; about there -0.49; about told -0.72; about trace 0.83; access be -0.54;
        access it 0.51; access me 0.66; assistant 0.83; assistant be 0.35; assistant from -0.42; be 0.04; be can
        -0.29; be differ 0.61; be from -0.24; be given 0.38; be hold -0.47; be limit 0.05; be looked 0.18; be me 0.26;
        be more -0.59; be my 0.04; be none -0.11; be only 0.78; be pass 0.37; be perhaps 0.02; be say -0.28; be sure
        -0.77; be text -0.6; be this -0.73; be unknown 0.04; be unreadable 0.28; be who -0.29; be without 0.32; can
        elsewhere -0.25; can from 0.23; can me 0.06; can not -0.32; can only -0.61; can that -0.68; contact 1.2;
        contact find -0.18; contact from -0.23; contact not -0.53; contract -0.4; contract not -0.09; contract tell_of
        0.37; data gladly -0.26; data held 0.89; data limit -0.98; data more -0.43; data say -0.36; data source -0.07;
        data tell_of 0.14; data which -0.35; data who -0.52; differ from -0.08; does -0.66; does find -0.65; does it
        0.09; does more -0.1; does not -0.07; does say -0.71; does source 0.33; does tell_of -0.55; does text -0.2;
        does this -0.25; does trace -0.32; does which -0.28; elsewhere -0.59; elsewhere find -0.27; elsewhere have
        -0.46; elsewhere me -0.24; find 0.6; find given -0.66; find have 0.08; find help 0.42; find more -0.55; find
        none -0.22; find not -0.23; find said -0.5; find say 0.45; find told -0.22; find trace -0.5; find which -0.55;
        find who 0.43; find without 0.59; find_myself 0.47; from -0.66; from given 0.11; from have_myself 0.45; from
        limit 0.08; from me -0.24; from more 0.24; from my 0.38; from none 0.15; from not 0.43; from only -0.01; from
        part 0.63; from pass 0.56; from perhaps -0.65; from said -0.2; from say 0.05; from source 0.23; from sure
        -0.69; from tell_of 0.43; from that 0.26; from trace 0.17; from unknown -0.44; from unreadable 0.51; from who
        0.77; from without 0.38; given 0.65; given held 0.31; given it 0.02; given me 0.36; given not -0.33; given
        only 0.75; given said -0.34; given source 0.57; given text 0.53; given that 0.38; given told -0.36; given
        trace 0.62; given who 0.1; gladly -0.02; gladly it 0.22; gladly more 0.23; gladly said -0.16; gladly told
        -0.93; have have_myself 0.11; have not -0.1; have that 0.47; have told 0.38; have trace 0.59; have_myself
        0.12; have_myself who 0.1; held not -1.07; held say -0.04; held source -0.27; help 0.22; help me -0.18; help
        not 0.17; hold not -0.08; hold trace -0.81; it -0.72; it limit 0.02; it me 0.02; it more 0.13; it none 0.34;
        it perhaps -0.12; it text -0.06; it that 0.37; it told -0.62; it trace -0.1; it who 0.09; lack 0.23; lack
        unreadable -1.21; leave 0.49; leave tell_of 0.93; limit -0.16; limit not 0.21; limit only 0.82; limit said
        0.31; limit say 0.35; limit trace 0.8; looked source 0.04; me 0.82; me none 0.59; me not -0.08; me pass 0.96;
        me say 0.25; me source 0.22; me text -1.06; me trace -0.11; more -0.25; more none -0.18; more not -0.58; more
        said 0.01; more say 0.22; more source -0.2; more tell_of -0.62; more text -0.01; more told -0.93; my 0.78; my
        source 0.24; none 0.17; none say 0.2; none source -0.62; none text 0.53; none there -0.38; none this 0.05;
        none told -0.15; none trace -0.11; none without 0.5; not -0.1; not only -0.26; not pass 0.76; not perhaps
        0.28; not said -0.23; not say -0.76; not sure 0.07; not tell_of -0.42; not text -0.09; not that -0.41; not
        this -0.53; not told 0.46; not trace -0.5; not which -0.63; not who -0.39; only 0.29; only source 0.42; only
        tell_of 0.21; pass 0.32; pass source 0.35; perhaps 0.37; perhaps source -0.33; perhaps who 0.38; question
        0.76; said say -0.11; said source 0.2; said text -0.66; said which -0.65; say 0.39; say source -0.03; say
        tell_of 0.55; say that -0.44; say without 0.22; sorry 0.96; source 0.68; source tell_of 0.62; source this
        -0.19; source told -0.32; source which 0.05; source who 0.49; sure -0.52; sure trace -0.59; tell_of -0.04;
        tell_of text -0.51; tell_of this -0.76; tell_of told -0.55; tell_of without 0.21; text that -0.19; text this
        -0.82; text which -0.45; that 0.31; that who 0.05; this which -0.56; this who -0.14; told 0.37; told who
        -0.64; trace 0.56; unknown 0.32; unknown who -0.66; unreadable 0.22; which 0.07; which who -0.28; who 0.07;
        without -0.02
    """,
    "asks": """
        from 0.65; which 1.02; which who 0.95; who 1.15
    """,
    "courtesy": """
        about 0.53; can 0.56; contact 0.23; from 0.8; from source 0.07; gladly 0.52; have 0.4; have me 0.55; looked
        0.01; looked me 0.37; looked source 0.12; me 0.63; me source 0.36; question -0.3; source 0.28; who -0.16
    """,
    "first": """
        about 0.73; about assistant 0.08; about be 0.5; about it 0.32; about none 0.32; about source 0.18; about trace
        0.92; access me 0.67; appear 0.43; appear from 0.41; assistant 0.22; assistant be 0.05; assistant from -0.43;
        be 0.91; be can -0.07; be differ 0.27; be find 0.18; be from 0.36; be given 0.16; be it 0.52; be limit 0.17;
        be looked 0.3; be me 0.15; be none -0.9; be not -0.55; be question 0.19; be said 0.8; be source 0.11; be sure
        -0.18; be that -0.45; be told 0.64; be trace 0.02; be unknown -0.78; be who -0.25; can -0.04; can from 0.4;
        can question 0.64; can say 0.17; can that -0.33; contract say 0.56; data 0.13; data it -0.56; data none -0.74;
        data not 0.73; data source -1.03; does 0.71; does find -0.05; does not 0.13; does say 0.24; does who 0.49;
        find 0.06; find find_myself 0.48; find me 0.29; find not 0.38; find question 0.2; find say 0.15; find source
        0.07; find tell_of -0.72; find who 0.77; find_myself 0.37; from 0.66; from given 0.03; from me -0.03; from
        more 0.49; from not -0.28; from perhaps -0.2; from source 0.12; from sure 0.23; from text -0.31; from trace
        -0.03; from unknown -0.87; from who -0.79; given 0.32; given held 0.42; given source 0.06; gladly 0.32; have
        0.03; have me 0.13; have told 0.55; have trace 0.7; held not -0.26; held say -0.31; hold not -0.1; hold say
        -0.23; it 0.1; it me 0.4; it perhaps 0.38; it source -0.1; it sure 0.96; it that 0.11; it this 0.62; lack
        -0.5; looked -0.2; looked source 0.53; me 0.92; me not 0.66; me say 0.46; me source -0.25; me told -0.08; me
        who 0.56; more 1.0; more not -0.41; my 0.38; none -0.01; none say -0.66; none source -0.21; none tell_of
        -0.13; none told 0.53; not -0.06; not only 0.06; not question 0.09; not say -0.1; not source -1.11; not
        tell_of -0.61; not text 0.47; not that -0.12; not told 0.35; not trace -0.14; only 0.35; only source -0.88;
        perhaps 0.59; question 0.26; question source -0.44; said 0.7; said source -0.09; said trace -0.5; say 0.48;
        say source 0.64; say text 0.14; say trace -0.32; sorry 0.53; source 0.7; source tell_of -0.21; source text
        0.57; source that -0.05; source told 0.37; source trace -0.13; source who 0.34; tell_of 0.36; tell_of trace
        -0.67; tell_of who -0.38; text 0.57; that -0.07; this 0.62; told -0.24; told who -0.46; trace -0.13; unknown
        -0.65; who -0.06
    """,
    "last": """
        about 0.15; about it 0.65; about source 0.16; about there -0.19; about told -0.53; about trace 0.24; about who
        0.11; appear 0.09; appear not 0.26; be -0.48; be can 0.76; be enough 0.23; be from 0.18; be given 0.58; be me
        0.06; be more -0.51; be my 0.08; be none -0.23; be not 0.46; be pass 0.18; be say -0.4; be source -0.22; be
        that -0.38; be there 0.36; be this -0.21; be unreadable 0.66; be without 0.48; can elsewhere -0.36; can gladly
        0.46; can have -0.21; can it 0.85; can me -0.48; can more 0.6; can not -0.27; can perhaps -0.22; can who
        -0.78; contact 0.71; contact from 0.16; contact not -1.05; contract -1.17; contract say -0.38; data 0.76; data
        find 0.52; data held 0.7; data hold 0.63; data it 0.6; data not -0.39; data say -0.4; data tell_of -0.57; data
        text 0.44; data there 0.11; data which -0.55; data who -0.95; differ that -1.0; differ who -0.7; does from
        0.41; does hold 0.41; does more -0.2; does not 0.48; does which -0.08; elsewhere -0.12; elsewhere find -0.36;
        elsewhere have -0.59; find given -0.02; find have -0.4; find more 0.16; find none 0.04; find not -0.86; find
        tell_of -0.19; find this -0.19; find told -0.6; find which -0.18; from -0.43; from me -0.23; from more 0.58;
        from my 0.24; from none 0.59; from not 0.25; from said -0.06; from say -0.67; from text 0.72; from there 0.33;
        from told 0.74; from trace 0.56; from unknown -0.9; from unreadable 0.41; from without 0.42; given -0.12;
        given it 0.26; given none -0.49; given not -0.03; given source -0.09; given that 0.54; given told -0.65;
        gladly 0.66; gladly help 0.16; gladly it 0.27; gladly me 0.04; gladly said -0.05; gladly who 0.04; have -0.17;
        have not 0.01; have that 0.94; have trace 0.65; held not -0.34; help 0.51; help hold -0.06; help me 0.2; help
        not -0.21; hold not 0.64; hold said 1.24; hold source 0.11; hold text 0.56; hold that -1.01; hold told 0.5; it
        more 0.18; it none 0.02; it this 0.21; it who 0.5; lack 0.14; limit not -0.03; limit said 0.47; limit told
        0.44; me 0.87; me none 0.2; me not -0.2; me pass 0.43; me trace -0.46; more -0.78; more not -0.27; more said
        0.04; more say 0.14; more source -0.01; more tell_of -0.34; more text -0.24; more told -0.89; more who -0.13;
        my 0.59; my source 0.25; none -0.45; none say 0.35; none source -0.45; none text 0.32; none told -0.78; none
        trace -0.21; none without 0.41; not say 0.24; not source 0.53; not tell_of 0.51; not this -0.48; not told
        0.34; not trace -0.5; not which -0.26; not who -0.04; only tell_of 0.15; only trace -0.35; pass -0.2; perhaps
        source -0.27; perhaps who 0.81; question 0.44; said -0.76; said source -0.12; say 0.04; say source -0.18; say
        tell_of -0.31; say that -0.61; say who -0.39; source -0.48; source text 0.11; source that 0.11; source this
        0.14; source told 0.15; tell_of -0.03; text 0.11; text this -0.49; text told -0.03; text which -0.28; that
        -0.14; this 0.21; this which -0.49; this who -0.02; told 0.19; trace -0.07; unknown 0.1; unknown who -0.6;
        unreadable 0.57; which 0.13; which who -0.57; without 0.2
    """,
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
