"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = -2.54
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {
    "asks for two things": -1.04,
    "clauses": 0.14,
    "core at first": -0.53,
    "core in the last only": 0.39,
    "core nowhere": 0.05,
    "courtesy": 0.31,
    "declined by the speaker": -0.36,
    "declined in a concession": -0.97,
    "declined, all of it": 0.64,
    "declined, asked for": 1.63,
    "declined, kind asked for": -0.17,
    "declined, not told before": 0.99,
    "declined, of the question": 0.95,
    "declined, of what was said": -0.37,
    "declined, only more": -1.11,
    "declined, what was asked": 0.1,
    "declined, what was not asked": -0.46,
    "declined, whether": -0.35,
    "declines": 0.8,
    "declines at first": 0.76,
    "declines at last": 1.31,
    "declines, times": 0.64,
    "denied at last, asked": 0.64,
    "denied at last, something else": 0.09,
    "denied, named at its beginning": -0.41,
    "denied, the core": 0.6,
    "denied, the kind asked for": -0.03,
    "denies at first": -0.63,
    "describes the sources": 0.54,
    "first, from the question": -1.11,
    "gives number": 0.18,
    "gives other": 0.01,
    "gives person": -0.35,
    "gives place": -0.28,
    "gives reason": -0.43,
    "gives time": -0.19,
    "gives yes or no": 0.23,
    "guessed before": -0.2,
    "guesses": -0.97,
    "lacks its kind": 0.83,
    "lacks number": 0.14,
    "lacks person": 0.33,
    "lacks place": -0.22,
    "lacks reason": 0.28,
    "lacks time": 0.3,
    "left open before": 0.32,
    "new in the last": 0.4,
    "new name": -0.33,
    "new number": -0.81,
    "sentences": 0.16,
    "short": -0.17,
    "stated before": -0.33,
    "stated before, of two things": -1.28,
    "stated behind": -0.98,
    "stated behind, of the question": -0.54,
    "stated, a number": 0.35,
    "stated, no number though asked for": 0.43,
    "stated, of the question": -0.01,
    "stated, the number asked for": -0.12,
    "stated, words": -0.05,
    "states nothing but what sources hold": 1.74,
    "taken up": 0.21,
    "taken up in the first": -0.55,
    "taken up in the last": -1.08,
    "wants number": 0.33,
    "wants other": 0.01,
    "wants person": -0.02,
    "wants place": -0.5,
    "wants time": 0.11,
    "wants yes or no": 0.23,
}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {
    "aimed": """
        about 0.21; about be 0.11; about from -0.23; about hold -0.07; about none 0.1; about say 0.11; about source
        -0.11; about tell_of 0.14; about told -0.11; about trace 0.33; about who 0.2; access be -0.29; access it 0.38;
        assistant 0.01; assistant source -0.56; be -0.11; be can 0.15; be differ 0.09; be find 0.06; be from -0.25; be
        given 0.22; be have -0.31; be hold -0.17; be limit 0.08; be me 0.11; be more 0.02; be not 0.17; be only 0.13;
        be pass 0.17; be said 0.21; be say -0.17; be source 0.14; be tell_of 0.08; be text -0.15; be that -0.05; be
        there 0.28; be this -0.3; be told 0.01; be trace -0.11; be unknown 0.17; be unreadable 0.17; be who -0.01; can
        elsewhere -0.16; can enough -0.15; can find 0.26; can from 0.32; can have 0.1; can me -0.22; can not -0.18;
        can perhaps 0.11; can source -0.2; can told -0.21; can who -0.05; contact find -0.19; contact it 0.08; contact
        source -0.31; contract does 0.27; contract lack -0.34; contract say 0.28; contract source 0.14; contract
        tell_of 0.25; data 0.11; data does 0.16; data find 0.27; data from -0.16; data given -0.14; data it 0.1; data
        more -0.15; data not 0.04; data source -0.32; data this 0.27; differ from -0.05; differ source 0.19; does find
        0.23; does it 0.48; does not -0.04; does say 0.25; does told -0.11; does which 0.25; does who 0.36; elsewhere
        find -0.05; elsewhere from -0.09; enough 0.02; enough find -0.04; enough from -0.2; enough given -0.28; enough
        source 0.01; find given -0.22; find have -0.12; find held -0.03; find help 0.07; find it 0.29; find me 0.14;
        find more -0.08; find not 0.09; find perhaps -0.1; find question -0.22; find tell_of -0.23; find text 0.25;
        find told -0.17; find which 0.13; find who 0.12; find_myself 0.09; find_myself from 0.18; from 0.38; from held
        0.11; from hold -0.21; from it 0.07; from leave -0.21; from limit 0.07; from me -0.15; from more 0.18; from
        not -0.09; from say -0.03; from source 0.2; from tell_of -0.48; from text 0.06; from that 0.38; from trace
        0.11; from unknown -0.23; from unreadable 0.21; from who 0.23; given not 0.18; given said -0.16; given say
        0.16; given source 0.02; given that 0.23; given told -0.12; given who 0.16; have held 0.05; have not -0.1;
        have source -0.3; have trace 0.29; have who -0.04; have_myself who 0.1; held hold -0.23; held not 0.08; held
        said -0.14; held say 0.02; held source 0.04; held tell_of -0.07; held trace -0.14; held who -0.23; hold not
        0.04; hold said 0.04; hold told -0.08; hold trace -0.24; it -0.33; it me -0.01; it more 0.14; it not -0.21; it
        only -0.34; it say -0.07; it source 0.02; it text 0.34; it this -0.08; it told -0.2; it which 0.13; it who
        0.48; lack -0.19; leave -0.16; leave tell_of 0.22; leave unknown -0.23; leave who -0.12; limit 0.23; limit not
        0.24; limit said 0.25; limit say 0.27; limit source -0.16; looked -0.25; me 0.32; me none 0.1; me not 0.05; me
        pass 0.1; me say 0.14; me source -0.03; me trace 0.33; me who -0.01; more 0.04; more not -0.22; more source
        -0.06; more tell_of -0.23; none 0.11; none said 0.26; none say 0.27; none tell_of 0.08; none text 0.26; not
        -0.47; not perhaps 0.14; not said 0.36; not say 0.1; not source 0.03; not tell_of 0.21; not text 0.15; not
        there 0.16; not trace -0.3; not who 0.17; only 0.15; only source 0.07; only trace -0.18; only who -0.05; pass
        source 0.2; perhaps -0.17; perhaps say -0.28; perhaps source -0.11; said 0.24; said say 0.16; said source
        0.22; said tell_of 0.17; said that -0.25; say 0.01; say tell_of -0.13; say text 0.22; say that -0.02; say told
        0.02; say which 0.27; say who 0.28; source 0.11; source tell_of 0.03; source text 0.06; source that -0.14;
        source there 0.2; source this -0.04; source told -0.15; source unreadable -0.02; source who 0.33; sure -0.17;
        sure told 0.4; sure trace -0.23; tell_of 0.09; tell_of that 0.36; tell_of there -0.2; tell_of told -0.02;
        tell_of trace -0.12; tell_of who 0.18; text 0.06; text that -0.34; text there -0.32; text told -0.07; text
        trace 0.27; text which 0.16; text who 0.04; that 0.11; that this -0.09; that told -0.13; that who 0.31; there
        0.25; this -0.08; this told -0.08; told -0.19; told who -0.07; trace 0.09; trace unreadable 0.21; unknown
        -0.08; unreadable 0.26; us -0.21; who 0.1
    """,
    "any": """
        about -0.27; about access -0.33; about assistant 0.05; about data -0.13; about does -0.1; about enough -0.05;
        about from -0.6; about hold -0.11; about it -0.02; about more -0.07; about none -0.32; about not -0.27; about
        only 0.04; about said -0.21; about source -0.08; about tell_of 0.42; about there -0.32; about told -0.44;
        about trace 0.52; access 0.19; access be -0.3; access find 0.18; access from 0.19; access have 0.05; access it
        0.2; access me 0.3; access not 0.16; appear -0.2; assistant 0.46; assistant be 0.15; assistant from 0.04;
        assistant it 0.14; assistant me 0.13; be 0.2; be can -0.07; be contact 0.26; be differ 0.31; be does -0.1; be
        elsewhere 0.28; be enough -0.04; be from -0.14; be given 0.26; be gladly -0.29; be hold -0.19; be limit 0.11;
        be looked 0.15; be me 0.27; be more -0.38; be my 0.09; be none -0.14; be not -0.13; be only 0.36; be part
        0.15; be pass 0.26; be perhaps -0.1; be question -0.06; be say -0.14; be sure -0.37; be tell_of 0.15; be text
        -0.21; be that -0.12; be this -0.47; be trace 0.26; be unable -0.19; be unknown -0.13; be unreadable 0.12; be
        who -0.08; be without 0.25; can -0.22; can contract -0.23; can elsewhere -0.25; can enough -0.22; can find
        0.29; can from 0.16; can gladly 0.11; can have 0.11; can help 0.05; can looked 0.17; can me -0.17; can more
        0.11; can not -0.11; can only -0.17; can perhaps -0.06; can tell_of -0.09; can that -0.3; can told -0.18;
        contact 0.58; contact elsewhere -0.15; contact find -0.18; contact from -0.08; contact not -0.34; contact told
        -0.16; contact which -0.32; contract -0.29; contract lack -0.34; contract not -0.02; contract say -0.02;
        contract source -0.02; contract tell_of 0.27; data 0.3; data does 0.05; data gladly -0.13; data held 0.44;
        data limit -0.35; data me -0.01; data more -0.18; data not 0.22; data perhaps -0.32; data say -0.15; data
        source -0.17; data tell_of -0.02; data text 0.18; data there 0.08; data this 0.16; data which -0.33; data who
        -0.27; differ from 0.03; differ limit 0.15; differ none 0.25; differ say 0.28; differ source 0.26; differ that
        -0.38; does -0.28; does find -0.28; does given -0.18; does gladly -0.09; does it 0.04; does looked -0.13; does
        more -0.32; does not -0.21; does say -0.3; does source -0.03; does tell_of -0.21; does text -0.19; does this
        -0.19; does told -0.01; does trace -0.33; does which -0.12; does who -0.14; elsewhere -0.31; elsewhere find
        -0.17; elsewhere have -0.21; elsewhere me -0.17; elsewhere perhaps -0.12; enough find -0.1; enough from -0.06;
        enough given -0.23; enough have -0.1; enough more 0.02; enough perhaps -0.12; find 0.29; find find_myself
        0.15; find from -0.18; find given -0.31; find have -0.13; find held -0.12; find help 0.15; find hold -0.14;
        find it -0.25; find me -0.17; find more -0.18; find none 0.04; find not -0.2; find said -0.14; find say 0.24;
        find sure -0.15; find tell_of 0.29; find that 0.11; find this -0.11; find told -0.22; find trace -0.14; find
        unable -0.14; find which -0.19; find who 0.19; find without 0.33; find_myself 0.23; find_myself from 0.23;
        from -0.39; from given 0.09; from gladly 0.09; from have_myself 0.29; from held -0.04; from hold 0.01; from it
        -0.11; from lack 0.17; from leave -0.33; from limit -0.17; from me -0.13; from more 0.16; from my 0.22; from
        none 0.18; from not 0.09; from only 0.17; from part 0.16; from pass 0.19; from perhaps -0.44; from said -0.19;
        from say 0.07; from source 0.26; from sure -0.29; from tell_of 0.1; from text 0.1; from that 0.09; from there
        -0.04; from this -0.14; from trace 0.08; from unknown -0.28; from unreadable 0.25; from which 0.12; from who
        0.44; from without 0.25; given 0.37; given gladly -0.25; given have -0.05; given have_myself 0.05; given held
        0.25; given it 0.08; given limit -0.02; given me 0.18; given more -0.03; given not -0.12; given only 0.35;
        given said -0.17; given say -0.15; given source 0.38; given tell_of -0.08; given that 0.25; given there -0.3;
        given this 0.21; given told -0.27; given trace 0.32; given who 0.11; gladly 0.06; gladly help 0.02; gladly it
        0.06; gladly me 0.13; gladly more 0.08; gladly none 0.07; gladly only -0.26; gladly said -0.15; gladly source
        0.2; gladly tell_of -0.17; gladly text -0.08; gladly told -0.35; have -0.02; have have_myself 0.14; have held
        0.01; have it -0.24; have me 0.13; have more -0.11; have none -0.01; have not -0.08; have perhaps 0.01; have
        tell_of -0.23; have that 0.14; have this -0.19; have told 0.26; have trace 0.28; have who 0.31; have_myself
        0.15; have_myself not 0.11; have_myself that 0.07; have_myself who 0.1; held -0.02; held hold -0.15; held more
        -0.1; held none 0.23; held not -0.38; held said -0.22; held say -0.05; held source -0.1; held text 0.08; held
        that -0.18; held told -0.12; held trace -0.14; held who -0.12; help 0.06; help hold 0.05; help it 0.09; help
        me -0.03; help not -0.07; hold 0.08; hold more -0.23; hold not 0.13; hold tell_of -0.15; hold trace -0.26;
        hold which -0.26; it -0.31; it limit 0.12; it me 0.11; it more 0.23; it my 0.05; it none 0.26; it only -0.08;
        it perhaps 0.16; it question -0.21; it say 0.14; it tell_of -0.02; it text -0.17; it that 0.25; it this 0.11;
        it told -0.38; it trace 0.06; it unable -0.12; it which -0.25; it who 0.1; lack 0.12; lack not -0.19; lack
        source -0.02; lack trace 0.33; lack unreadable -0.46; leave 0.31; leave pass 0.16; leave tell_of 0.33; leave
        told 0.3; leave who -0.27; limit 0.07; limit me 0.04; limit not 0.16; limit only 0.31; limit said 0.22; limit
        say 0.31; limit source -0.17; limit tell_of 0.09; limit that 0.13; limit told -0.14; limit trace 0.33; limit
        which -0.26; looked -0.27; looked me 0.09; looked perhaps 0.29; looked source 0.18; looked that 0.27; me 0.43;
        me more 0.05; me none 0.32; me not -0.11; me only 0.17; me pass 0.5; me question 0.04; me said 0.14; me say
        0.24; me tell_of 0.02; me text -0.42; me that 0.08; me trace 0.04; me which -0.09; me who 0.05; more -0.37;
        more none -0.24; more not -0.4; more perhaps -0.11; more said -0.06; more say 0.01; more source -0.2; more
        tell_of -0.33; more text 0.01; more this -0.22; more told -0.48; more trace -0.15; more unable -0.1; my 0.39;
        my not 0.23; my source 0.16; none 0.06; none said 0.36; none say 0.03; none source -0.37; none sure -0.24;
        none text 0.33; none there -0.11; none this 0.22; none told -0.18; none trace 0.02; none unreadable -0.29;
        none without 0.28; not -0.34; not only -0.14; not pass 0.41; not perhaps 0.13; not question -0.01; not said
        -0.11; not say -0.39; not source -0.12; not sure -0.12; not tell_of -0.23; not text -0.14; not that -0.17; not
        this -0.31; not told 0.23; not trace -0.37; not us 0.22; not which -0.45; not who -0.25; only 0.33; only say
        0.26; only source 0.26; only tell_of 0.14; only text -0.11; only that 0.08; only there 0.05; only trace -0.15;
        only who -0.03; part 0.12; part source 0.14; pass 0.26; pass source 0.26; perhaps 0.32; perhaps say 0.12;
        perhaps source -0.12; perhaps text -0.29; perhaps that 0.06; perhaps told -0.28; perhaps who 0.31; question
        0.42; question source -0.01; said say -0.19; said source -0.09; said sure -0.12; said tell_of 0.06; said text
        -0.23; said that -0.16; said this -0.16; said told -0.17; said which -0.2; said who -0.11; say 0.41; say
        source 0.17; say sure -0.2; say tell_of 0.35; say text -0.12; say that -0.29; say this -0.17; say who -0.1;
        say without 0.14; sorry 0.42; source 0.45; source sure 0.01; source tell_of 0.49; source that 0.03; source
        this -0.14; source told -0.14; source trace 0.16; source unable -0.15; source which -0.17; source who 0.22;
        sure -0.35; sure that -0.23; sure trace -0.19; sure who -0.08; tell_of 0.09; tell_of text -0.3; tell_of this
        -0.33; tell_of told -0.2; tell_of which -0.1; tell_of who -0.16; tell_of without 0.18; text that -0.17; text
        there -0.32; text this -0.46; text told -0.2; text unknown -0.09; text which -0.25; text who -0.22; that 0.16;
        that who 0.15; there -0.19; there trace -0.03; this 0.11; this trace 0.12; this unable -0.14; this which
        -0.26; this who -0.18; told 0.28; told trace 0.06; told who -0.33; trace 0.19; trace unreadable 0.23; unable
        -0.17; unknown which -0.14; unknown who -0.26; unreadable 0.05; unreadable who -0.23; which 0.05; which who
        -0.15; who 0.16; who without 0.13; without 0.15
    """,
    "asks": """
        be 0.23; can 0.1; from 0.34; from which 0.21; from who 0.3; gladly 0.23; perhaps 0.09; say 0.27; which 0.49;
        which who 0.45; who 0.58
    """,
    "courtesy": """
        about 0.29; be -0.02; can 0.12; can gladly 0.2; can perhaps 0.14; contact 0.17; contact from 0.11; data 0.19;
        find 0.16; find me 0.12; from 0.36; from looked -0.06; from me 0.04; from source 0.09; given 0.1; given have
        0.11; given looked 0.1; given me 0.15; given source 0.02; gladly 0.26; have 0.17; have looked 0.13; have me
        0.28; have source 0.08; it -0.13; looked 0.06; looked me 0.24; looked source 0.11; me 0.4; me source 0.17;
        more 0.09; perhaps 0.19; question -0.18; source 0.18; that 0.03; that who 0.09; who -0.07
    """,
    "first": """
        about 0.54; about assistant 0.13; about be 0.29; about from 0.13; about have 0.2; about it 0.29; about me
        0.12; about none 0.21; about not 0.09; about say 0.19; about source 0.2; about tell_of 0.13; about this -0.1;
        about told 0.16; about trace 0.31; access be -0.14; access me 0.25; appear 0.46; appear from 0.35; assistant
        0.22; assistant be 0.07; assistant from 0.02; assistant tell_of -0.28; be 0.54; be can -0.09; be differ 0.16;
        be enough 0.02; be find 0.14; be from 0.32; be given 0.19; be it 0.34; be limit 0.15; be looked 0.16; be me
        0.04; be more 0.17; be none -0.32; be not -0.25; be only 0.21; be perhaps 0.08; be question 0.26; be said
        0.49; be say 0.01; be source 0.03; be sure -0.16; be text 0.04; be that -0.07; be this 0.09; be told 0.42; be
        trace -0.03; be unknown -0.38; be unreadable 0.33; be who -0.23; can 0.18; can find 0.01; can from 0.32; can
        help 0.15; can limit -0.17; can me -0.07; can not 0.09; can perhaps 0.12; can question 0.23; can said 0.06;
        can say 0.21; can source -0.17; contract lack -0.36; contract say 0.32; contract tell_of 0.15; data -0.07;
        data does 0.13; data from -0.07; data held 0.28; data hold -0.11; data it -0.31; data none -0.41; data not
        0.26; data source -0.5; data text -0.04; differ 0.04; differ from -0.13; does 0.24; does find 0.15; does me
        0.08; does not 0.24; does say 0.17; does tell_of 0.15; does which 0.27; does who 0.26; elsewhere find -0.02;
        elsewhere perhaps -0.1; enough 0.01; enough source -0.03; enough told 0.13; find 0.36; find given -0.14; find
        it -0.1; find me 0.33; find more -0.14; find none -0.22; find not 0.23; find question 0.12; find say 0.17;
        find source 0.04; find tell_of -0.31; find text -0.16; find this -0.01; find told -0.02; find trace -0.13;
        find us 0.21; find which 0.21; find who 0.46; find_myself 0.17; from 0.5; from given 0.06; from gladly 0.19;
        from have 0.02; from it -0.08; from lack -0.13; from leave -0.36; from limit 0.12; from looked 0.01; from me
        0.12; from more 0.22; from my 0.03; from none -0.1; from not -0.06; from only 0.29; from pass 0.07; from
        perhaps -0.14; from say -0.09; from source 0.17; from sure -0.03; from tell_of 0.26; from text -0.02; from
        that 0.14; from this 0.18; from told -0.08; from trace -0.25; from unknown -0.41; from unreadable 0.15; from
        who -0.31; given 0.2; given held 0.17; given me 0.14; given none 0.14; given source 0.09; given told 0.17;
        gladly 0.19; gladly help 0.13; gladly it 0.13; gladly say 0.16; have 0.16; have me 0.15; have tell_of -0.19;
        have told 0.31; have trace 0.28; held 0.09; held hold -0.1; held not -0.15; held say -0.15; held source 0.06;
        held tell_of -0.02; held who -0.13; help it 0.18; help me 0.09; help not 0.25; hold not -0.15; hold say -0.19;
        hold tell_of 0.31; hold trace -0.17; it -0.03; it me 0.22; it not -0.15; it perhaps 0.22; it question 0.03; it
        say -0.07; it source 0.06; it sure 0.35; it tell_of -0.09; it that -0.07; it this 0.27; it told 0.06; it who
        0.27; lack -0.16; lack unreadable -0.24; leave told 0.31; limit not -0.32; limit only 0.4; limit source -0.04;
        looked 0.08; looked me 0.09; looked question 0.2; looked source 0.38; looked that 0.29; me 0.76; me none 0.16;
        me not 0.32; me pass 0.24; me question 0.02; me say 0.28; me source -0.01; me that 0.08; me this 0.2; me told
        0.04; me trace 0.24; me who 0.2; more 0.21; more not -0.17; more said 0.17; more source 0.13; my 0.11; none
        -0.17; none not 0.2; none said 0.11; none say -0.45; none source -0.28; none tell_of -0.24; none this 0.18;
        none told 0.3; none trace -0.23; not -0.19; not only -0.04; not perhaps 0.28; not question 0.11; not said
        -0.02; not say -0.12; not source -0.47; not sure 0.12; not tell_of -0.38; not text 0.32; not that -0.09; not
        this -0.01; not told 0.08; not trace -0.04; not us 0.17; only 0.16; only say 0.02; only source -0.23; only
        tell_of -0.03; only text -0.24; only that -0.12; pass 0.06; perhaps 0.24; perhaps question 0.17; perhaps say
        -0.01; perhaps source 0.03; question 0.23; question say 0.22; question source -0.04; question told 0.08; said
        0.38; said say -0.02; said source -0.09; said tell_of 0.08; said trace -0.3; say 0.37; say source 0.31; say
        tell_of 0.04; say trace -0.19; say who 0.19; sorry 0.18; source 0.55; source tell_of -0.13; source text 0.3;
        source that -0.04; source this -0.06; source told 0.14; source trace -0.26; source who 0.06; tell_of 0.02;
        tell_of that -0.14; tell_of this -0.27; tell_of trace -0.13; tell_of who -0.13; text 0.3; text there -0.32;
        that 0.02; that unreadable -0.25; that who -0.05; this 0.27; this trace 0.21; told 0.05; told trace 0.07; told
        who -0.31; trace -0.12; unknown -0.44; unreadable 0.21; unreadable who -0.21; who -0.02
    """,
    "last": """
        about -0.06; about be 0.13; about have 0.07; about it 0.33; about more -0.15; about none -0.2; about not 0.01;
        about say -0.15; about source 0.02; about tell_of 0.17; about there -0.2; about told -0.31; about trace 0.22;
        about who 0.13; access be -0.18; access me 0.16; appear not 0.13; assistant -0.18; assistant question 0.12; be
        -0.45; be can 0.38; be data -0.01; be enough 0.17; be given 0.21; be it -0.05; be lack 0.14; be limit -0.12;
        be me 0.13; be more -0.16; be my 0.13; be none -0.3; be not 0.16; be only 0.16; be part 0.16; be pass 0.2; be
        source -0.33; be sure -0.03; be text -0.02; be that -0.21; be there 0.17; be this -0.28; be trace 0.15; be
        unable -0.16; be unknown 0.13; be unreadable 0.32; be who -0.17; be without 0.29; can data 0.26; can differ
        -0.29; can elsewhere -0.23; can find 0.27; can gladly 0.21; can have -0.21; can help 0.15; can it 0.39; can
        looked 0.07; can me -0.27; can more 0.26; can not -0.2; can perhaps -0.18; can say -0.07; can text -0.07; can
        that -0.2; can told -0.11; can who -0.45; contact 0.51; contact from 0.14; contact not -0.42; contract -0.48;
        contract from -0.41; contract lack -0.34; contract say -0.29; data 0.44; data find 0.37; data from 0.1; data
        given 0.09; data gladly -0.2; data held 0.35; data hold 0.27; data it 0.26; data limit -0.39; data me 0.06;
        data more -0.06; data not -0.09; data say -0.25; data source -0.11; data tell_of -0.28; data text 0.22; data
        that -0.2; data there 0.25; data this 0.07; data told 0.05; data which -0.33; data who -0.37; differ -0.18;
        differ none 0.26; differ that -0.42; differ who -0.38; does 0.1; does find -0.18; does from 0.19; does hold
        0.21; does it 0.15; does looked -0.15; does more -0.14; does not 0.09; does say -0.05; does text -0.04; does
        this -0.18; does told 0.29; does which -0.07; does who -0.09; elsewhere -0.06; elsewhere find -0.16; elsewhere
        have -0.23; enough from -0.06; enough have -0.12; enough me -0.09; enough more 0.1; enough perhaps -0.13; find
        0.17; find given -0.02; find have -0.31; find held -0.09; find help 0.06; find it 0.08; find me -0.03; find
        more 0.15; find none 0.09; find not -0.58; find say 0.12; find source -0.16; find tell_of -0.18; find this
        -0.07; find told -0.23; find unable -0.15; find which -0.12; find who 0.04; from -0.38; from given 0.1; from
        me -0.17; from more 0.08; from my 0.3; from none 0.35; from not 0.25; from pass 0.05; from said -0.08; from
        source -0.11; from tell_of -0.08; from text 0.47; from that -0.29; from there 0.36; from this -0.08; from told
        0.49; from trace 0.31; from unknown -0.37; from unreadable 0.22; from which 0.2; from who 0.13; from without
        0.3; given -0.08; given gladly -0.18; given it 0.2; given none -0.24; given not 0.01; given only 0.28; given
        said -0.23; given source -0.02; given that 0.27; given this 0.19; given told -0.28; given trace 0.28; given
        who 0.05; gladly 0.24; gladly help 0.17; gladly it 0.07; gladly looked 0.02; gladly me 0.1; gladly more 0.2;
        gladly none 0.02; gladly said -0.06; gladly source -0.02; gladly tell_of -0.09; gladly told -0.22; gladly who
        0.02; have -0.19; have me 0.14; have more 0.07; have none 0.15; have not -0.08; have perhaps -0.09; have
        source 0.12; have tell_of -0.16; have that 0.25; have trace 0.28; held -0.12; held none 0.16; held not -0.2;
        held source -0.01; held text 0.11; help 0.14; help hold 0.13; help it 0.1; help me 0.02; help not -0.07; help
        source -0.05; hold 0.02; hold it 0.1; hold limit -0.35; hold not 0.45; hold said 0.51; hold source 0.14; hold
        text 0.3; hold that -0.42; hold told 0.2; it 0.01; it more 0.15; it not 0.22; it source 0.03; it text 0.05; it
        this 0.05; it told 0.05; it trace -0.13; it unable -0.11; it which -0.03; it who 0.26; lack 0.14; lack source
        0.1; limit none -0.35; limit not 0.2; limit said 0.25; limit told 0.32; looked me 0.01; looked source 0.06;
        looked who -0.01; me 0.5; me more 0.08; me none 0.17; me not -0.08; me only 0.17; me pass 0.24; me say -0.05;
        me that 0.01; me this 0.02; me trace -0.12; me which -0.1; more -0.46; more none -0.09; more not -0.15; more
        only -0.26; more perhaps 0.09; more said -0.07; more say -0.05; more source -0.17; more tell_of -0.22; more
        text -0.1; more this -0.06; more told -0.5; more who 0.02; my 0.42; my not 0.24; my source 0.2; none -0.33;
        none say 0.21; none source -0.46; none tell_of 0.02; none text 0.26; none this 0.04; none told -0.4; none
        trace -0.12; none without 0.25; not 0.11; not pass 0.22; not perhaps 0.17; not question -0.09; not say -0.1;
        not source 0.28; not tell_of 0.09; not text 0.07; not that -0.15; not there 0.16; not this -0.33; not told
        0.32; not trace -0.22; not us 0.14; not which -0.34; not who -0.22; only 0.12; only tell_of 0.31; only trace
        -0.16; part 0.15; pass 0.1; pass source 0.21; perhaps -0.04; perhaps say 0.19; perhaps source -0.11; perhaps
        sure 0.27; perhaps who 0.41; question 0.33; said -0.3; said say 0.03; said tell_of 0.02; said that -0.1; said
        which -0.1; said who -0.09; say -0.21; say source -0.12; say tell_of -0.2; say text -0.09; say that -0.33; say
        this 0.01; say trace 0.21; say which -0.04; say who -0.3; say without 0.04; source -0.29; source text 0.11;
        source that -0.15; source this -0.05; source told 0.13; source trace -0.07; source unable -0.15; source
        unknown -0.13; source which 0.19; source who 0.16; sure that -0.21; tell_of -0.06; tell_of that 0.04; tell_of
        this -0.15; text 0.11; text that -0.15; text this -0.25; text told 0.09; text unknown -0.1; text which -0.23;
        text who -0.21; that 0.07; there 0.02; this 0.05; this told 0.21; this unable -0.14; this unknown -0.12; this
        which -0.17; this who -0.13; told 0.14; trace -0.04; unable -0.15; unknown 0.05; unknown which -0.12; unknown
        who -0.25; unreadable 0.3; which 0.02; which who -0.22; who 0.07; without 0.15
    """,
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
