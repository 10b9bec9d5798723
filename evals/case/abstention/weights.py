"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = -1.36
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {
    "asks for two things": -0.87,
    "clauses": -0.08,
    "core at first": -0.59,
    "core in the last only": 0.33,
    "core nowhere": 0.02,
    "courtesy": 0.47,
    "declined by the speaker": -0.4,
    "declined in a concession": -0.56,
    "declined, all of it": 0.57,
    "declined, asked for": 1.33,
    "declined, first asked for": 0.15,
    "declined, kind asked for": -0.11,
    "declined, not told before": 0.82,
    "declined, of the question": 0.74,
    "declined, of what was said": -0.4,
    "declined, only more": -0.9,
    "declined, what was asked": 0.1,
    "declined, what was not asked": -0.38,
    "declined, whether": -0.46,
    "declines": 0.7,
    "declines at first": 0.46,
    "declines at last": 0.98,
    "declines, times": 0.5,
    "denied at last, asked": 0.43,
    "denied at last, something else": -0.03,
    "denied, named at its beginning": -0.23,
    "denied, the core": 0.58,
    "denied, the kind asked for": 0.01,
    "denies at first": -0.49,
    "describes the sources": 0.41,
    "first, from the question": -0.75,
    "gives number": 0.1,
    "gives other": 0.01,
    "gives person": -0.16,
    "gives place": -0.22,
    "gives reason": -0.39,
    "gives time": -0.27,
    "gives yes or no": 0.29,
    "guesses": -0.64,
    "lacks its kind": 0.64,
    "lacks number": 0.17,
    "lacks person": 0.17,
    "lacks reason": 0.18,
    "lacks time": 0.26,
    "left open before": 0.21,
    "new in the last": 0.1,
    "new name": -0.29,
    "new number": -0.67,
    "sentences": -0.09,
    "short": -0.07,
    "stated before": -0.08,
    "stated behind": -0.61,
    "stated behind, of the question": -0.28,
    "stated, a number": 0.26,
    "stated, no number though asked for": 0.37,
    "stated, the number asked for": -0.11,
    "stated, words": -0.14,
    "states nothing but what sources hold": 1.48,
    "taken up": 0.12,
    "taken up in the first": -0.38,
    "taken up in the last": -0.94,
    "wants number": 0.27,
    "wants other": 0.01,
    "wants person": 0.01,
    "wants place": -0.36,
    "wants time": -0.01,
    "wants yes or no": 0.29,
}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {
    "aimed": """
        about 0.2; about from -0.14; about source -0.11; about trace 0.28; about who 0.28; access be -0.36; access it
        0.33; assistant 0.08; assistant source -0.48; be -0.15; be can 0.12; be find 0.07; be from -0.15; be given
        0.2; be held -0.15; be hold -0.27; be limit 0.11; be me 0.13; be not 0.08; be pass 0.21; be said 0.38; be
        source 0.09; be sure -0.11; be tell_of -0.03; be that -0.12; be this -0.27; be trace -0.11; be unreadable
        0.27; can elsewhere -0.16; can enough -0.19; can find 0.27; can from 0.27; can me -0.27; can perhaps -0.03;
        can source -0.2; contact source -0.34; data 0.16; data does 0.19; data given -0.2; data not 0.17; data text
        -0.09; data this 0.24; differ 0.1; does find 0.21; does it 0.27; does not 0.02; does say 0.23; does who 0.25;
        elsewhere find -0.12; elsewhere from -0.1; elsewhere source -0.07; enough -0.09; enough find -0.13; enough
        from -0.16; enough given -0.23; enough source -0.02; find given -0.15; find have -0.07; find held -0.04; find
        it 0.16; find text 0.2; find told -0.22; find who 0.13; find_myself from 0.15; from 0.37; from given -0.09;
        from hold -0.2; from leave -0.27; from me -0.13; from more 0.08; from none -0.14; from only 0.05; from said
        0.02; from source 0.24; from sure -0.07; from tell_of -0.35; from text -0.07; from that 0.43; from trace 0.17;
        from unknown -0.2; from unreadable 0.13; from who 0.24; given -0.02; given say 0.2; given source -0.12; given
        that 0.24; given who 0.15; have not -0.05; held 0.05; held hold -0.22; held not -0.07; held say 0.04; held
        source -0.02; held tell_of -0.06; held trace -0.15; held who -0.24; hold -0.07; it -0.11; it me 0.06; it only
        -0.3; it say -0.18; it source -0.06; it text 0.27; it this -0.1; it told -0.19; it who 0.31; lack -0.19; leave
        -0.13; limit say 0.27; me 0.31; me none 0.11; me say 0.27; me source -0.05; me tell_of 0.21; me trace 0.28; me
        who 0.06; more 0.07; more not -0.14; none 0.01; none said 0.39; none say 0.16; none text 0.25; none trace
        0.11; not -0.45; not said 0.33; not tell_of 0.16; not text 0.16; not trace -0.26; not who 0.13; only 0.17;
        only source 0.05; only trace -0.2; perhaps -0.15; perhaps source -0.11; said 0.24; said say 0.17; said that
        -0.26; say -0.01; say source 0.04; say tell_of -0.05; say text 0.19; say which 0.23; say who 0.13; source
        0.14; source tell_of -0.05; source text 0.11; source there 0.33; source told -0.14; source trace -0.06; source
        who 0.12; sure -0.15; text 0.11; text there -0.24; text who 0.03; that this -0.06; that who 0.35; this -0.1;
        unknown -0.04; unreadable 0.33; who 0.15
    """,
    "any": """
        about -0.17; about can 0.03; about data -0.19; about enough -0.13; about from -0.48; about hold -0.17; about
        more 0.06; about none -0.23; about not -0.28; about only 0.13; about said -0.22; about source -0.05; about
        tell_of 0.32; about there -0.34; about told -0.39; about trace 0.56; access 0.18; access find 0.16; access it
        0.08; access me 0.3; access not 0.21; assistant 0.4; assistant from 0.06; assistant me 0.13; be 0.06; be can
        0.01; be contact 0.23; be differ 0.3; be from 0.04; be given 0.15; be gladly -0.12; be limit 0.11; be me 0.3;
        be more -0.37; be my 0.1; be none -0.05; be only 0.35; be pass 0.31; be perhaps 0.02; be question -0.13; be
        sure -0.38; be tell_of 0.1; be text -0.21; be that -0.19; be this -0.44; be told -0.02; be trace 0.1; be
        unable -0.25; be unknown -0.04; be unreadable 0.21; be who -0.1; be without 0.19; can -0.19; can elsewhere
        -0.25; can enough -0.22; can have 0.15; can me -0.2; can more 0.13; can not -0.14; can only -0.2; can that
        -0.26; can told -0.23; contact 0.49; contact elsewhere -0.15; contact find -0.29; contact not -0.4; contact
        told -0.28; contract tell_of 0.22; data gladly -0.08; data held 0.25; data more -0.2; data perhaps -0.29; data
        say -0.16; data sure -0.15; data tell_of -0.03; data told 0.16; data which -0.29; data who -0.25; differ from
        0.03; differ say 0.31; differ that -0.35; does -0.21; does find -0.2; does it -0.05; does more -0.28; does not
        -0.14; does say -0.25; does source -0.11; does tell_of -0.13; does text -0.18; does this -0.12; does trace
        -0.21; does which -0.18; does who -0.17; elsewhere -0.27; elsewhere find -0.16; elsewhere me -0.17; enough
        find -0.18; enough given -0.13; enough perhaps -0.11; find 0.27; find given -0.37; find have -0.14; find held
        -0.08; find me -0.11; find more -0.18; find none 0.12; find not -0.1; find said -0.17; find say 0.26; find
        text -0.11; find this -0.05; find told -0.25; find trace -0.16; find which -0.13; find without 0.26;
        find_myself 0.19; find_myself from 0.22; from -0.25; from given 0.08; from have_myself 0.24; from hold -0.04;
        from it -0.08; from leave -0.26; from me -0.07; from more 0.03; from my 0.15; from none 0.32; from not 0.07;
        from only 0.16; from part 0.13; from pass 0.16; from perhaps -0.34; from said -0.17; from source 0.28; from
        sure -0.21; from tell_of 0.15; from that 0.02; from there -0.02; from this -0.21; from trace 0.01; from
        unknown -0.21; from unreadable 0.17; from who 0.35; from without 0.14; given 0.39; given gladly -0.23; given
        have -0.05; given have_myself 0.06; given held 0.29; given it 0.15; given me 0.14; given more -0.01; given not
        -0.15; given only 0.33; given said -0.18; given source 0.45; given tell_of -0.06; given that 0.19; given there
        -0.12; given told -0.19; given trace 0.23; given who -0.02; gladly help 0.05; gladly it 0.17; gladly me 0.12;
        gladly more 0.01; gladly none 0.03; gladly said -0.23; gladly say -0.13; gladly source 0.2; gladly tell_of
        -0.21; gladly told -0.31; guesswork 0.12; have have_myself 0.14; have more -0.06; have not -0.12; have perhaps
        -0.01; have that 0.19; have told 0.22; have trace 0.2; have_myself 0.14; held not -0.39; held say -0.07; held
        source -0.05; held who -0.13; help 0.13; help it 0.12; help me -0.04; help not 0.04; hold -0.08; hold source
        0.06; it -0.34; it limit 0.18; it me 0.09; it more 0.22; it none 0.31; it only -0.07; it perhaps 0.14; it say
        0.03; it text -0.17; it that 0.37; it this 0.13; it told -0.37; it trace 0.15; it unable -0.2; it which -0.26;
        it who 0.03; lack 0.13; lack not -0.26; lack unreadable -0.44; leave tell_of 0.34; leave told 0.31; leave who
        -0.27; limit me 0.14; limit only 0.3; limit say 0.25; limit tell_of 0.15; limit that 0.12; limit trace 0.36;
        looked -0.29; looked source 0.13; me 0.38; me more 0.02; me none 0.39; me not -0.07; me only 0.09; me pass
        0.47; me question 0.04; me said 0.14; me say 0.29; me source -0.14; me tell_of -0.01; me text -0.34; me that
        0.04; me trace 0.09; me which -0.07; more -0.22; more none -0.25; more not -0.37; more perhaps -0.07; more
        said -0.04; more say -0.08; more source -0.24; more tell_of -0.32; more text 0.02; more this -0.23; more told
        -0.39; more unable -0.14; my 0.31; my not 0.18; my source 0.13; none say 0.04; none source -0.38; none text
        0.32; none there -0.18; none this 0.26; none told -0.16; none trace -0.06; none without 0.25; not -0.36; not
        only -0.14; not pass 0.41; not perhaps -0.01; not question 0.04; not said -0.17; not say -0.32; not source
        -0.08; not tell_of -0.26; not text -0.1; not that -0.19; not this -0.22; not told 0.19; not trace -0.4; not
        which -0.5; not who -0.27; only 0.35; only say 0.29; only source 0.18; only tell_of 0.1; only that 0.15; only
        trace -0.18; only who -0.03; part 0.14; pass 0.27; pass source 0.28; perhaps 0.24; perhaps say 0.17; perhaps
        source -0.15; perhaps text -0.22; perhaps that 0.08; perhaps who 0.18; question 0.34; question source 0.11;
        said sure -0.13; said tell_of 0.13; said text -0.26; said that -0.16; said this -0.19; said told -0.15; say
        0.32; say source 0.12; say tell_of 0.36; say text -0.17; say that -0.21; say this -0.1; say told -0.16; say
        which 0.05; say without 0.07; sorry 0.35; source 0.41; source sure -0.07; source tell_of 0.38; source that
        -0.02; source this -0.13; source told -0.26; source which -0.13; source who 0.11; sure -0.24; sure that -0.22;
        sure trace -0.13; sure who -0.16; tell_of 0.24; tell_of text -0.28; tell_of this -0.29; tell_of told -0.18;
        tell_of without 0.12; text that -0.13; text there -0.32; text this -0.4; text which -0.19; that 0.18; that who
        0.18; there told -0.15; this 0.13; this which -0.21; this who -0.09; told 0.26; told who -0.32; trace 0.17;
        unknown -0.06; unknown which -0.16; unknown who -0.3; unreadable 0.14; which 0.01; which who -0.1; who 0.13;
        who without 0.07; without 0.07
    """,
    "asks": """
        be 0.24; from 0.34; from which 0.19; from who 0.29; gladly 0.22; perhaps 0.08; say 0.22; which 0.45; which who
        0.39; who 0.54
    """,
    "courtesy": """
        about 0.24; be -0.01; can 0.17; contact 0.14; contact from 0.1; find 0.14; find me 0.1; from 0.37; from source
        0.06; given 0.08; given looked 0.09; given me 0.12; gladly 0.25; gladly me 0.08; have 0.16; have looked 0.12;
        have me 0.24; looked 0.12; looked me 0.22; looked source 0.15; me 0.37; me source 0.17; more 0.11; perhaps
        0.22; question -0.2; source 0.15; that 0.02; who -0.12
    """,
    "first": """
        about 0.44; about assistant 0.12; about be 0.25; about find 0.17; about it 0.37; about me 0.13; about not
        0.13; access me 0.24; assistant 0.17; assistant from 0.04; be 0.31; be can 0.01; be data 0.1; be differ 0.18;
        be does 0.21; be find 0.08; be from 0.34; be given 0.18; be it 0.29; be limit 0.19; be looked 0.12; be me
        0.12; be none -0.23; be not -0.31; be only 0.18; be perhaps 0.16; be question 0.19; be said 0.34; be source
        0.07; be sure -0.16; be that -0.16; be this 0.06; be told 0.38; be trace -0.06; be unknown -0.24; be who -0.2;
        can 0.15; can find -0.04; can from 0.18; can me -0.12; can perhaps 0.1; can question 0.2; can said 0.08; can
        say 0.19; data does 0.12; data not 0.25; data source -0.46; data text 0.06; data told 0.03; differ 0.15;
        differ from -0.05; does 0.17; does find 0.12; does not 0.18; does say 0.16; does source 0.04; does who 0.28;
        find 0.25; find from -0.06; find it -0.09; find me 0.28; find not 0.2; find question 0.17; find say 0.14; find
        source 0.15; find tell_of -0.22; find this 0.03; find told -0.07; find who 0.35; find_myself 0.15; from 0.48;
        from given 0.07; from it -0.16; from looked -0.03; from me 0.06; from more 0.21; from none -0.22; from not
        0.04; from only 0.28; from perhaps -0.19; from say -0.02; from source 0.05; from sure -0.02; from that 0.08;
        from this 0.08; from trace -0.2; from unknown -0.21; from who -0.27; given 0.15; given held 0.15; given me
        0.16; given not 0.16; given source 0.04; given told 0.24; gladly 0.24; gladly help 0.13; have me 0.1; have
        told 0.23; held say -0.2; held tell_of -0.11; held who -0.13; help 0.15; hold not -0.05; hold say -0.17; it me
        0.2; it not -0.28; it perhaps 0.13; it say -0.14; it source 0.13; it sure 0.37; it tell_of -0.13; it that
        0.09; it this 0.25; it who 0.26; lack unreadable -0.24; leave told 0.33; limit not -0.21; limit only 0.39;
        limit source -0.04; looked 0.1; looked me 0.1; looked question 0.19; looked source 0.33; me 0.64; me not 0.33;
        me pass 0.21; me question 0.03; me say 0.31; me source -0.04; me this 0.18; me told -0.03; me trace 0.24; me
        who 0.18; more 0.29; more not -0.09; none -0.21; none say -0.26; none source -0.29; none tell_of -0.2; none
        told 0.34; none trace -0.23; not -0.22; not perhaps 0.26; not question 0.2; not say -0.14; not source -0.36;
        not tell_of -0.35; not text 0.3; not that -0.1; not this 0.02; not told 0.17; not trace -0.06; only 0.13; only
        source -0.28; only text -0.27; pass 0.08; perhaps 0.29; perhaps question 0.16; question 0.24; question say
        0.17; question source 0.11; question told 0.04; said 0.26; said source 0.05; said tell_of 0.12; said trace
        -0.22; say 0.44; say source 0.29; say text 0.21; say told -0.13; say trace -0.23; say who 0.21; sorry 0.16;
        source 0.35; source tell_of -0.09; source text 0.21; source that -0.09; source this 0.01; source told 0.06;
        source trace -0.22; sure 0.07; tell_of 0.13; tell_of trace -0.16; tell_of who -0.13; text 0.21; text there
        -0.31; that 0.04; that unreadable -0.24; that who 0.02; this 0.25; this trace 0.25; told 0.19; told who -0.2;
        trace -0.06; unknown -0.33; who -0.04
    """,
    "last": """
        about -0.02; about be 0.08; about have -0.01; about it 0.32; about none -0.14; about say -0.1; about source
        -0.06; about tell_of 0.18; about there -0.27; about told -0.28; about trace 0.26; about who 0.19; appear 0.1;
        appear not 0.19; be -0.41; be can 0.33; be data 0.12; be from -0.09; be given 0.19; be me 0.14; be more -0.22;
        be my 0.15; be none -0.2; be not 0.07; be only 0.16; be pass 0.2; be question -0.04; be source -0.3; be sure
        -0.09; be text -0.07; be that -0.14; be there 0.18; be this -0.24; be trace 0.16; be unknown 0.09; be
        unreadable 0.4; be without 0.22; can data 0.34; can differ -0.3; can elsewhere -0.22; can find 0.25; can
        gladly 0.26; can have -0.13; can help 0.13; can it 0.34; can me -0.27; can more 0.22; can not -0.22; can that
        -0.14; can who -0.39; contact 0.39; contact not -0.47; contract -0.43; data 0.36; data find 0.22; data from
        0.07; data hold 0.16; data more -0.09; data not -0.1; data said 0.01; data say -0.25; data tell_of -0.23; data
        text 0.27; data that -0.21; data told 0.1; data which -0.28; data who -0.33; differ -0.21; differ that -0.35;
        differ who -0.34; does find -0.14; does hold 0.13; does it 0.02; does more -0.11; does not 0.07; does say
        -0.09; does text -0.04; does this -0.11; does told 0.28; does which -0.13; does who -0.04; elsewhere -0.02;
        elsewhere find -0.12; enough have -0.12; enough me -0.08; enough perhaps -0.12; find 0.12; find have -0.26;
        find me -0.06; find more 0.06; find none 0.07; find not -0.41; find question 0.1; find say 0.11; find tell_of
        -0.02; find this -0.1; find which -0.1; find who 0.03; from -0.26; from given 0.02; from lack 0.23; from me
        -0.02; from more -0.07; from my 0.23; from none 0.39; from not 0.11; from said -0.09; from source -0.15; from
        tell_of -0.08; from text 0.42; from that -0.18; from there 0.35; from this -0.11; from trace 0.35; from
        unknown -0.28; from unreadable 0.18; from who 0.1; from without 0.2; given 0.05; given gladly -0.13; given it
        0.23; given more -0.04; given none -0.17; given not 0.04; given source 0.04; given that 0.21; given told
        -0.23; given trace 0.13; given who -0.07; gladly 0.24; gladly help 0.17; gladly it 0.15; gladly me 0.13;
        gladly none -0.04; gladly said -0.13; gladly tell_of -0.15; gladly told -0.21; gladly who 0.08; guesswork 0.1;
        have -0.08; have not -0.1; have trace 0.22; help 0.14; help me 0.02; help not 0.03; hold 0.04; hold not 0.52;
        hold said 0.37; hold source 0.14; hold text 0.22; hold that -0.36; hold told 0.15; it more 0.09; it none 0.09;
        it not 0.13; it say -0.02; it text 0.01; it this 0.08; it told 0.13; it trace -0.05; it which -0.09; it who
        0.18; lack 0.2; lack source 0.04; limit told 0.33; looked source 0.14; me 0.48; me none 0.19; me not -0.04; me
        only 0.19; me pass 0.26; me question 0.02; me say 0.02; me trace -0.02; me which -0.05; me who -0.08; more
        -0.4; more none -0.12; more not -0.18; more said -0.04; more say -0.12; more source -0.23; more tell_of -0.17;
        more text -0.15; more this -0.08; more told -0.38; more who -0.02; my 0.35; my not 0.19; my say 0.14; my
        source 0.2; none -0.15; none say 0.27; none source -0.4; none text 0.18; none there -0.12; none this 0.1; none
        told -0.29; none trace -0.02; none without 0.18; not 0.21; not perhaps 0.01; not say -0.16; not source 0.37;
        not tell_of 0.08; not that -0.14; not this -0.3; not told 0.27; not which -0.38; not who -0.05; only trace
        -0.19; part 0.15; pass 0.09; pass source 0.2; perhaps -0.04; perhaps say 0.22; perhaps who 0.33; question
        0.28; question source 0.15; said -0.26; said source -0.03; say -0.27; say source -0.19; say tell_of -0.26; say
        that -0.26; say which -0.1; say who -0.21; source -0.09; source tell_of -0.02; source this -0.04; source told
        0.06; source trace 0.06; source which 0.19; source who 0.14; sure that -0.19; tell_of -0.05; text that -0.11;
        text this -0.22; text told 0.09; text which -0.18; there told -0.05; this 0.08; this which -0.14; this who
        -0.04; told 0.21; trace 0.06; unknown -0.1; unknown which -0.13; unknown who -0.28; unreadable 0.36; which
        -0.03; which who -0.15; who 0.14; without 0.16
    """,
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
