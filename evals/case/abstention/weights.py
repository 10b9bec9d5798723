"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = -2.70
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {
    "asks for two things": -1.38,
    "clauses": -0.1,
    "core at first": -1.07,
    "core in the last only": 0.03,
    "core nowhere": 0.16,
    "courtesy": 0.71,
    "declined by the speaker": -0.31,
    "declined in a concession": -2.35,
    "declined, all of it": 0.72,
    "declined, asked for": 2.17,
    "declined, first asked for": -0.46,
    "declined, kind asked for": -0.09,
    "declined, not told before": 1.32,
    "declined, of the question": 1.28,
    "declined, of what was said": -0.47,
    "declined, only more": -1.57,
    "declined, what was asked": 0.27,
    "declined, what was not asked": -0.98,
    "declined, whether": -0.57,
    "declines": 1.15,
    "declines at first": 0.35,
    "declines at last": 0.55,
    "declines, times": 1.0,
    "denied at last, asked": 1.0,
    "denied at last, named at its beginning": 0.11,
    "denied at last, something else": -0.04,
    "denied, named at its beginning": -0.72,
    "denied, the core": 1.02,
    "denied, the kind asked for": 0.28,
    "denies at first": -1.02,
    "describes the sources": 0.6,
    "first, from the question": -1.5,
    "gives other": -0.03,
    "gives person": -0.57,
    "gives place": -0.53,
    "gives reason": -1.21,
    "gives time": -0.15,
    "gives yes or no": 0.54,
    "guesses": -1.51,
    "lacks its kind": 0.91,
    "lacks number": -0.29,
    "lacks person": 0.45,
    "left open before": -0.22,
    "new in the last": 0.52,
    "new name": -0.43,
    "new number": -1.15,
    "sentences": 0.7,
    "short": 0.55,
    "stated before": -0.06,
    "stated before, of two things": -2.04,
    "stated behind": -0.95,
    "stated behind, of the question": -1.05,
    "stated, a number": 0.5,
    "stated, no number though asked for": 1.1,
    "stated, of the question": -0.02,
    "stated, words": -0.16,
    "states nothing but what sources hold": 2.3,
    "taken up": 0.97,
    "taken up in the first": -0.76,
    "taken up in the last": -2.07,
    "wants number": 0.75,
    "wants other": -0.03,
    "wants person": -0.11,
    "wants place": -1.06,
    "wants reason": -0.15,
    "wants time": 0.07,
    "wants yes or no": 0.54,
}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {
    "aimed": """
        about 0.81; about from -0.35; about given -0.22; about hold -0.32; about source -0.47; about told -0.26; about
        trace 0.61; about who 0.31; access be -0.34; appear 0.83; appear from 0.92; assistant source -1.14; be -0.32;
        be given 0.45; be held -0.27; be hold -0.06; be me -0.05; be said 0.47; be say -0.14; be source -0.17; be this
        -0.59; be unknown 0.06; can find 0.52; can from 0.34; can perhaps -0.09; can say -0.52; can who 0.13; contact
        -0.14; contact find -0.32; contact from -0.51; contact not -0.37; contact source -0.79; contract does 0.83;
        contract say 0.71; contract tell_of 0.39; data does 0.26; data find 0.76; data from -0.11; data not 0.37; data
        source -0.65; differ 0.11; differ from 0.28; differ source 0.65; does -0.03; does find 0.47; does it 1.09;
        does not -0.24; does say 0.33; does who 0.48; elsewhere find 0.06; elsewhere from -0.22; enough 0.01; enough
        given -0.38; find from -0.34; find given -0.56; find have 0.02; find held 0.14; find it 0.16; find none -0.4;
        find not 0.03; find perhaps -0.29; find question -1.42; find say -0.47; find source 0.25; find tell_of -0.62;
        find text 0.68; find told -0.26; find trace -0.02; find who -0.34; find_myself 0.12; from 0.94; from given
        -0.21; from held -0.05; from hold -0.54; from leave -0.35; from me 0.03; from more 0.18; from perhaps -0.52;
        from said -0.31; from source 0.23; from tell_of -0.58; from trace 0.42; from unknown -0.56; from unreadable
        0.19; from who 0.27; given source -0.01; given that 0.96; given told -0.33; have held 0.1; have none -1.1;
        have not -0.05; have say -0.49; have source -0.57; held 0.31; held not -0.11; held say -0.06; held source
        0.12; held told -0.27; held trace -0.26; held who -0.25; hold 0.18; hold not -0.26; hold trace -0.51; it
        -0.64; it source 0.43; it this 0.06; it told -0.43; it who 1.44; leave -0.24; limit not 0.65; limit said 0.64;
        limit say 0.37; me 0.57; me who -0.08; more 0.48; more not -0.58; none 0.28; none said 0.5; none source 0.08;
        none text 0.41; none trace -0.14; not -0.82; not said 0.87; not tell_of 0.47; not text 0.09; not trace -0.49;
        not who 0.38; only trace -0.35; perhaps source -0.19; said 0.31; said say 0.38; said source 0.65; said that
        -0.77; say 0.57; say source -0.49; say text 0.63; say told -0.06; say which 0.7; say who 0.35; sorry 0.66;
        source -0.24; source tell_of 0.01; source text 0.01; source told -0.13; source who 0.6; tell_of that 0.49;
        tell_of told -0.31; text 0.01; text that -0.37; text there -0.67; text trace 0.33; that 0.27; that who 0.25;
        this 0.06; this told -0.52; told 0.28; trace 0.27; unknown -0.47; unreadable 0.02; who 0.29
    """,
    "any": """
        about -0.43; about data -0.15; about enough -0.04; about from -0.46; about given -0.23; about hold -0.14;
        about it -0.04; about none -0.33; about not -0.62; about said -0.12; about source 0.24; about there -0.57;
        about told -0.92; about trace 0.72; access be -0.27; access me 0.53; appear -0.57; appear from -0.04; appear
        source -0.88; assistant 0.99; assistant be 0.15; assistant from 0.04; be -0.09; be can -0.27; be contact 0.31;
        be differ 0.59; be from -0.24; be given 0.27; be help 0.44; be hold -0.37; be it 0.28; be limit -0.04; be me
        0.26; be more -0.83; be my -0.14; be none -0.51; be only 0.32; be part 0.51; be pass 0.43; be source 0.78; be
        sure -0.8; be tell_of 0.23; be text -0.58; be there -0.02; be this -0.94; be unknown 0.14; be who -0.29; be
        without 0.36; can elsewhere -0.44; can find 0.53; can me 0.01; can not -0.71; can tell_of -0.43; can that
        -0.54; contact 0.94; contact not -0.91; contract -0.27; contract none -0.4; contract not 0.26; contract
        tell_of 0.08; data held 0.7; data more -0.32; data say -0.33; data source 0.12; data which -0.44; data who
        -0.36; differ from -0.23; differ limit 0.4; differ source 0.22; does -0.57; does find -0.55; does it -0.04;
        does looked -0.67; does more -0.04; does not -0.33; does say -0.49; does source 0.68; does tell_of -0.21; does
        text -0.22; does this -0.29; does trace -0.84; does which -0.16; elsewhere -0.46; elsewhere find -0.17; enough
        given -0.33; find 0.73; find find_myself 0.5; find given -0.58; find have -0.21; find held 0.07; find help
        0.6; find more -0.79; find not -0.26; find said -0.45; find say 0.54; find trace -0.11; find which -0.5; find
        who 0.35; find without 0.39; find_myself 0.44; find_myself from 0.54; from -0.97; from given 0.04; from
        have_myself 0.6; from me -0.16; from more 0.01; from my 0.28; from not 0.42; from only 0.3; from part 0.47;
        from pass 0.56; from perhaps -0.5; from said -0.12; from say 0.21; from source 0.25; from sure -0.59; from
        tell_of 0.35; from text 0.29; from trace 0.13; from unknown -0.32; from unreadable 0.85; from who 0.78; from
        without 0.2; given 0.45; given gladly -0.4; given held 0.3; given me 0.11; given more -0.4; given not -0.62;
        given only 1.15; given said 0.1; given source 0.4; given text 0.71; given that 0.29; given told -0.2; given
        trace 0.88; given who -0.09; gladly 0.04; gladly it 0.16; gladly more -0.04; gladly said -0.31; gladly tell_of
        -0.44; gladly told -0.83; have 0.53; have have_myself -0.11; have it -0.45; have not -0.12; have perhaps
        -0.44; have that 0.31; have told 0.24; have_myself -0.1; held not -0.53; held say -0.05; held source -0.17;
        held trace -0.41; help 0.24; help me 0.14; help not -0.07; hold -0.52; hold that -0.78; hold trace -0.67; it
        -0.71; it me 0.1; it more 0.36; it none 0.07; it perhaps -0.01; it text 0.03; it that 0.41; it told -0.49; it
        who -0.17; lack 0.19; lack unreadable -1.06; limit not 0.14; limit said 0.12; limit say 0.29; limit that 0.17;
        limit told -0.18; limit trace 0.47; limit which -0.64; looked source 0.23; looked that 0.85; me 0.55; me none
        0.32; me not 0.34; me pass 0.94; me said 0.64; me say 0.45; me source 0.1; me text -1.33; more -0.14; more not
        -0.3; more said -0.21; more say -0.22; more source -0.08; more tell_of -0.69; more text 0.02; more told -0.87;
        my 0.66; my not 0.29; my source 0.3; none 0.2; none say 0.09; none source -0.58; none tell_of 0.24; none text
        0.63; none there -0.42; none this 0.33; none told 0.04; none trace -0.16; none who 0.75; none without 0.22;
        not -0.18; not only -0.33; not pass 0.75; not perhaps -0.07; not said 0.12; not say -0.28; not source 0.06;
        not sure -0.02; not tell_of -0.34; not text -0.18; not that -0.56; not this -0.51; not told 0.35; not trace
        -0.42; not which -0.57; not who -0.11; only 0.26; only source 0.3; only tell_of 0.41; only trace -0.17; only
        who -0.05; part 0.43; pass 0.51; pass source 0.32; perhaps 0.56; perhaps say 0.21; perhaps source -0.32;
        perhaps who 0.62; question 0.71; said source -0.21; said text -0.86; said told -0.36; say source 0.12; say
        tell_of 0.33; say that -0.41; say this -0.09; say without 0.02; sorry 0.52; source 0.53; source tell_of 0.73;
        source this -0.28; source told -0.27; source trace 0.42; source which -0.27; sure -0.54; sure trace -0.54;
        tell_of text -0.9; tell_of this -0.68; tell_of told -0.47; tell_of without 0.28; text this -0.82; text which
        -0.28; text who -0.34; that 0.44; that who 0.01; there told -0.08; this which -0.62; this who -0.34; told
        0.37; told who -0.43; trace 0.1; unknown 0.38; unknown who -0.49; unreadable 0.49; which 0.23; which who
        -0.39; who -0.26; who without 0.02; without -0.13
    """,
    "asks": """
        be 0.45; from 1.09; from who 0.43; it 0.85; perhaps 0.48; say 0.18; that 0.6; which 1.11; which who 0.85; who
        0.9
    """,
    "courtesy": """
        about 0.25; be -0.04; contact 0.3; contact from 0.12; find 0.21; from 0.51; from source 0.04; given 0.01;
        given me 0.22; gladly 0.47; have 0.22; have looked 0.17; have me 0.43; looked -0.1; looked me 0.38; looked
        source 0.42; me 0.6; me source 0.48; question -0.31; source 0.23; who -0.14
    """,
    "first": """
        about 0.85; about assistant 0.15; about be 0.39; about given -0.56; about it 0.45; about trace 0.72; access be
        -0.26; access me 0.65; appear 0.33; appear from 0.72; assistant 0.2; assistant from -0.19; be 1.12; be can
        -0.19; be contact 0.49; be does 0.86; be find 0.29; be from 0.07; be given 0.18; be it 0.15; be me -0.01; be
        more 0.39; be none -0.72; be not -0.11; be question 0.32; be said 0.61; be source -0.09; be that -0.88; be
        this 0.36; be told 0.54; be trace 0.02; be unknown -0.93; be who -0.66; can -0.04; can from 0.68; can perhaps
        -0.06; can question 0.47; can say 0.11; contact 0.73; contract say 0.48; data -0.04; data from -0.22; data not
        0.66; data source -0.65; does 1.04; does find 0.19; does not -0.11; does say 0.13; does who 0.3; find 0.28;
        find find_myself 0.49; find held -0.38; find it -0.39; find me -0.28; find none -0.31; find say -0.44; find
        source -0.17; find tell_of -0.33; find this 0.37; find trace 0.13; find who 1.14; find_myself 0.3; from 0.71;
        from have 0.05; from held -0.41; from me 0.02; from more 0.42; from my 0.18; from none -0.43; from not -0.22;
        from perhaps -0.35; from source 0.25; from sure 0.1; from text -0.26; from trace 0.29; from unknown -1.04;
        from who -0.6; given 0.5; given not 0.43; given source 0.12; gladly 0.2; have 0.24; have me -0.08; have told
        0.72; held say -0.15; hold not -0.22; hold tell_of 0.84; it 0.31; it me 0.54; it not -0.3; it perhaps 0.18; it
        source -0.24; it sure 0.7; it tell_of -0.19; it that -0.04; it this 0.52; lack -0.37; lack source -0.07; lack
        unreadable -0.57; looked -0.38; looked source 0.66; me 0.68; me not 0.69; me say 0.12; me source -0.56; me
        told 0.1; me who 0.53; more 0.75; more not -0.55; my 0.09; none 0.32; none say -0.56; none source -0.37; none
        told 0.47; not -0.09; not only -0.01; not question -0.08; not say -0.23; not source -0.66; not tell_of -0.77;
        not text 0.48; not that -0.33; not told 0.46; not trace -0.15; only 0.69; only source -0.38; only trace -0.03;
        perhaps 0.79; perhaps sure 0.65; question say 0.76; question source -0.69; said 0.69; said trace -0.63; say
        0.45; say source 0.35; say tell_of 0.35; say text 0.24; say trace -0.46; sorry 0.2; source 0.85; source
        tell_of -0.08; source text 0.5; source told 0.2; source trace -0.56; source who 0.27; tell_of 0.27; tell_of
        trace -0.43; tell_of who -0.21; text 0.5; that 0.25; that who 0.35; this 0.52; told -0.18; told who -0.61;
        trace -0.22; unknown -0.78; who 0.19
    """,
    "last": """
        about 0.03; about it 0.81; about say -0.32; about source 0.19; about there -0.14; about told -0.61; about
        trace 0.41; appear not 0.41; be -0.44; be can 1.12; be data -0.14; be given 0.82; be me -0.01; be more -0.37;
        be my 0.31; be none -0.28; be said -0.21; be say -0.72; be source 0.18; be that -0.11; be there 0.85; be this
        -0.48; be without 0.5; can elsewhere -0.38; can have -0.04; can it 0.46; can me -0.39; can more 0.82; can not
        -0.18; can perhaps -0.27; can that 0.07; can who -0.7; contact 0.98; contact find -0.42; contact not -1.16;
        contact told -0.57; contract -0.62; contract from -0.8; contract say -0.79; data 1.09; data find 0.36; data
        held 0.57; data hold 0.74; data it 0.08; data more -0.22; data say -0.59; data that -0.33; data there -0.02;
        data which -0.62; data who -0.61; differ who -1.25; does from 0.69; does hold 0.38; does looked -0.71; does
        more -0.16; does not 0.11; does told 0.66; does which -0.07; elsewhere -0.45; elsewhere find -0.46; find have
        -0.52; find more -0.11; find not -1.16; find tell_of 0.19; find that -0.03; find trace -0.21; find which
        -0.02; from -0.34; from gladly 0.73; from me -0.17; from more 0.07; from my 0.32; from none 0.84; from not
        -0.12; from said -0.15; from say -0.83; from tell_of 0.11; from text 0.68; from that -0.01; from there 0.61;
        from told 0.79; from trace 0.51; from unknown -0.76; from without 0.45; given -0.07; given it 0.44; given not
        -0.26; given said -0.46; given source 0.01; given that 0.41; given told -0.37; given trace 0.44; gladly 0.43;
        gladly help 0.21; gladly it 0.18; gladly me 0.21; gladly who 0.15; have -0.28; have me 0.53; have not 0.06;
        have that 0.63; help 0.67; help me 0.06; help not -0.2; help source 0.15; hold not 0.74; hold said 1.27; hold
        text 0.73; hold that -0.94; hold told 0.82; it none -0.01; it not 0.18; it text 0.41; it that 0.33; it this
        0.21; it who 0.67; lack 0.15; limit not 0.23; limit said 0.05; limit told 0.57; looked -0.7; me 0.54; me not
        -0.38; me pass 0.52; me say 0.2; more -0.63; more none 0.35; more not 0.22; more said -0.05; more say -0.09;
        more source -0.02; more tell_of -0.43; more text -0.31; more told -0.86; more who -0.1; my 0.68; my not 0.35;
        my source 0.39; none say 0.19; none source -0.69; none text -0.01; none told -0.88; none trace -0.02; none who
        0.98; none without 0.35; not 0.51; not pass 0.63; not say 0.22; not source 0.34; not that -0.07; not there
        0.32; not this -0.39; not told 0.5; not trace -0.28; not which -0.49; not who -0.13; only trace -0.17; pass
        -0.08; perhaps source -0.51; perhaps who 0.88; question 0.74; said -0.74; said source -0.12; say -0.03; say
        source -0.19; say tell_of -0.26; say that -0.24; say who -0.17; source -0.47; source that -0.11; source this
        0.06; source told -0.07; source trace 0.07; source which 0.56; tell_of -0.11; text this -0.48; text which
        -0.33; text who -0.38; that -0.47; there -0.41; this 0.21; this which -0.59; this who -0.39; told 0.08; trace
        -0.03; unknown 0.29; unknown who -0.47; which 0.27; which who -0.66; who -0.06; without 0.2
    """,
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
