"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = -2.76
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {
    "asks for two things": -1.54,
    "clauses": 0.13,
    "core at first": -0.54,
    "core in the last only": 0.4,
    "core nowhere": 0.03,
    "courtesy": 0.32,
    "declined by the speaker": -0.37,
    "declined in a concession": -0.97,
    "declined, all of it": 0.66,
    "declined, asked for": 1.58,
    "declined, first asked for": -0.05,
    "declined, kind asked for": -0.14,
    "declined, not told before": 1.01,
    "declined, of the question": 0.96,
    "declined, of what was said": -0.38,
    "declined, only more": -1.11,
    "declined, what was asked": 0.11,
    "declined, what was not asked": -0.47,
    "declined, whether": -0.33,
    "declines": 0.8,
    "declines at first": 0.78,
    "declines at last": 1.33,
    "declines, times": 0.61,
    "denied at last, asked": 0.61,
    "denied at last, named at its beginning": 0.03,
    "denied at last, something else": 0.09,
    "denied, named at its beginning": -0.42,
    "denied, the core": 0.63,
    "denied, the kind asked for": -0.01,
    "denies at first": -0.61,
    "describes the sources": 0.55,
    "first, from the question": -1.1,
    "gives number": 0.18,
    "gives person": -0.35,
    "gives place": -0.27,
    "gives reason": -0.44,
    "gives time": -0.17,
    "gives yes or no": 0.23,
    "guesses": -0.99,
    "lacks its kind": 0.83,
    "lacks number": 0.15,
    "lacks person": 0.33,
    "lacks place": -0.22,
    "lacks reason": 0.28,
    "lacks time": 0.29,
    "left open before": 0.33,
    "new in the last": 0.37,
    "new name": -0.36,
    "new number": -0.82,
    "sentences": 0.15,
    "short": -0.16,
    "stated before": -0.36,
    "stated behind": -0.96,
    "stated behind, of the question": -0.54,
    "stated, a number": 0.36,
    "stated, no number though asked for": 0.43,
    "stated, of the question": -0.02,
    "stated, the number asked for": -0.13,
    "stated, words": -0.05,
    "states nothing but what sources hold": 1.76,
    "taken up": 0.19,
    "taken up in the first": -0.54,
    "taken up in the last": -1.06,
    "wants number": 0.33,
    "wants person": -0.03,
    "wants place": -0.49,
    "wants time": 0.12,
    "wants yes or no": 0.23,
}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {
    "aimed": """
        about 0.22; about be 0.11; about from -0.24; about hold -0.06; about none 0.08; about say 0.11; about source
        -0.13; about tell_of 0.15; about told -0.12; about trace 0.33; about who 0.22; access be -0.26; access it
        0.38; assistant source -0.56; be -0.13; be can 0.15; be differ 0.1; be find 0.07; be from -0.25; be given
        0.22; be have -0.31; be hold -0.18; be limit 0.08; be me 0.13; be more 0.04; be not 0.16; be only 0.12; be
        pass 0.17; be said 0.22; be say -0.2; be source 0.14; be tell_of 0.08; be text -0.14; be that -0.05; be there
        0.27; be this -0.29; be trace -0.11; be unknown 0.17; be unreadable 0.17; be who -0.01; can 0.01; can
        elsewhere -0.15; can enough -0.16; can find 0.25; can from 0.33; can have 0.11; can me -0.21; can not -0.21;
        can perhaps 0.11; can source -0.19; can told -0.21; can who -0.06; contact find -0.18; contact source -0.31;
        contract does 0.3; contract lack -0.34; contract say 0.28; contract source 0.15; contract tell_of 0.25; data
        0.1; data does 0.17; data find 0.29; data from -0.14; data given -0.16; data held 0.32; data more -0.12; data
        not 0.02; data source -0.33; data this 0.29; differ -0.01; differ from -0.05; differ source 0.19; does find
        0.25; does it 0.49; does not -0.05; does say 0.25; does which 0.25; does who 0.38; elsewhere -0.01; elsewhere
        find -0.04; elsewhere from -0.1; enough 0.04; enough find -0.05; enough from -0.2; enough given -0.28; enough
        source 0.03; find given -0.21; find have -0.12; find held -0.03; find help 0.07; find it 0.23; find me 0.14;
        find more -0.08; find not 0.1; find perhaps -0.11; find question -0.23; find tell_of -0.22; find text 0.29;
        find told -0.19; find which 0.11; find who 0.12; find_myself 0.1; find_myself from 0.18; from 0.44; from given
        -0.03; from hold -0.19; from it 0.07; from leave -0.23; from limit 0.06; from me -0.15; from more 0.17; from
        none -0.19; from not -0.1; from only -0.01; from said 0.01; from say -0.02; from source 0.2; from tell_of
        -0.47; from text 0.06; from that 0.38; from told 0.09; from trace 0.14; from unknown -0.23; from unreadable
        0.2; from who 0.24; given 0.01; given held 0.23; given said -0.13; given say 0.12; given source 0.02; given
        that 0.22; given told -0.13; given who 0.16; have held 0.04; have not -0.08; have source -0.31; have trace
        0.29; have who -0.02; have_myself who 0.11; held hold -0.23; held not 0.1; held said -0.14; held say 0.02;
        held source 0.05; held tell_of -0.06; held trace -0.15; held who -0.23; hold not 0.05; hold said 0.04; hold
        told -0.09; hold trace -0.25; it -0.35; it me -0.02; it more 0.13; it none 0.06; it only -0.34; it say -0.09;
        it source -0.05; it text 0.35; it this -0.09; it told -0.2; it trace -0.02; it which 0.13; it who 0.49; lack
        -0.18; leave -0.17; leave tell_of 0.22; leave unknown -0.23; leave who -0.12; limit 0.23; limit not 0.24;
        limit said 0.26; limit say 0.27; limit source -0.16; looked -0.24; me 0.3; me none 0.09; me not 0.03; me pass
        0.1; me say 0.13; me source -0.05; me trace 0.35; me who -0.02; more 0.04; more not -0.2; more source -0.05;
        more tell_of -0.22; none 0.14; none said 0.27; none say 0.3; none tell_of 0.1; none text 0.28; none trace
        0.02; not -0.48; not perhaps 0.13; not said 0.36; not say 0.09; not source 0.02; not tell_of 0.22; not text
        0.15; not there 0.18; not trace -0.31; not who 0.15; only 0.14; only source 0.07; only trace -0.18; only who
        -0.06; pass source 0.21; perhaps -0.18; perhaps say -0.26; perhaps source -0.1; said 0.22; said say 0.15; said
        source 0.24; said tell_of 0.17; said that -0.26; say 0.01; say source 0.01; say tell_of -0.15; say text 0.21;
        say that -0.01; say which 0.26; say who 0.28; source 0.12; source tell_of 0.04; source text 0.06; source that
        -0.13; source there 0.21; source this -0.04; source told -0.18; source unreadable -0.03; source who 0.32; sure
        -0.18; sure told 0.39; sure trace -0.22; tell_of 0.09; tell_of that 0.38; tell_of there -0.21; tell_of told
        -0.06; tell_of trace -0.15; tell_of who 0.19; text 0.06; text that -0.34; text there -0.31; text told -0.05;
        text trace 0.27; text which 0.17; text who 0.06; that 0.12; that this -0.08; that told -0.12; that who 0.3;
        there 0.24; this -0.09; this told -0.08; told -0.22; told who -0.07; trace 0.1; trace unreadable 0.22; unknown
        -0.08; unreadable 0.25; us -0.2; who 0.12
    """,
    "any": """
        about -0.28; about access -0.32; about assistant 0.06; about data -0.13; about does -0.11; about enough -0.04;
        about from -0.59; about hold -0.12; about it -0.03; about more -0.08; about none -0.34; about not -0.27; about
        only 0.03; about said -0.21; about source -0.09; about tell_of 0.42; about there -0.34; about this 0.01; about
        told -0.43; about trace 0.52; access 0.22; access be -0.28; access find 0.18; access have 0.05; access it
        0.21; access me 0.3; access not 0.18; appear -0.21; assistant 0.46; assistant be 0.17; assistant from 0.04;
        assistant it 0.16; assistant me 0.13; be 0.19; be can -0.07; be contact 0.26; be differ 0.32; be does -0.08;
        be elsewhere 0.3; be enough -0.03; be from -0.14; be given 0.26; be gladly -0.31; be have -0.01; be hold
        -0.19; be limit 0.11; be looked 0.17; be me 0.27; be more -0.38; be my 0.08; be none -0.13; be not -0.14; be
        only 0.37; be part 0.16; be pass 0.26; be perhaps -0.11; be question -0.06; be say -0.16; be sure -0.37; be
        tell_of 0.16; be text -0.21; be that -0.13; be this -0.47; be trace 0.25; be unable -0.2; be unknown -0.15; be
        unreadable 0.13; be who -0.08; be without 0.27; can -0.22; can contract -0.23; can elsewhere -0.25; can enough
        -0.24; can find 0.28; can from 0.17; can gladly 0.11; can have 0.11; can help 0.05; can me -0.14; can more
        0.1; can not -0.14; can only -0.18; can perhaps -0.05; can tell_of -0.07; can that -0.29; can told -0.19;
        contact 0.6; contact elsewhere -0.14; contact find -0.16; contact from -0.07; contact not -0.32; contact told
        -0.15; contact which -0.32; contract -0.27; contract lack -0.34; contract not -0.02; contract say -0.02;
        contract source -0.02; contract tell_of 0.28; data 0.29; data does 0.05; data gladly -0.18; data held 0.4;
        data limit -0.35; data more -0.16; data not 0.21; data perhaps -0.3; data say -0.17; data source -0.19; data
        tell_of -0.04; data text 0.15; data there 0.09; data this 0.18; data which -0.32; data who -0.26; differ from
        0.04; differ limit 0.14; differ none 0.25; differ say 0.24; differ source 0.25; differ that -0.38; does -0.29;
        does find -0.28; does given -0.17; does gladly -0.1; does it 0.03; does looked -0.14; does more -0.31; does
        not -0.24; does say -0.31; does source -0.03; does tell_of -0.23; does text -0.18; does this -0.21; does told
        -0.03; does trace -0.35; does which -0.13; does who -0.12; elsewhere -0.32; elsewhere find -0.17; elsewhere
        have -0.21; elsewhere me -0.17; elsewhere perhaps -0.12; enough find -0.12; enough from -0.07; enough given
        -0.23; enough have -0.1; enough more 0.01; enough perhaps -0.13; find 0.28; find from -0.19; find given -0.31;
        find have -0.12; find held -0.11; find help 0.15; find hold -0.13; find me -0.17; find more -0.19; find none
        0.04; find not -0.19; find said -0.14; find say 0.24; find sure -0.15; find tell_of 0.3; find text -0.09; find
        this -0.14; find told -0.22; find trace -0.13; find unable -0.14; find which -0.23; find who 0.18; find
        without 0.32; find_myself 0.25; find_myself from 0.24; from -0.37; from given 0.09; from gladly 0.08; from
        have_myself 0.29; from held -0.01; from hold 0.01; from it -0.12; from lack 0.16; from leave -0.33; from limit
        -0.19; from looked -0.11; from me -0.12; from more 0.17; from my 0.21; from none 0.2; from not 0.1; from only
        0.17; from part 0.16; from pass 0.19; from perhaps -0.44; from said -0.19; from say 0.09; from source 0.24;
        from sure -0.28; from tell_of 0.09; from text 0.11; from that 0.1; from there -0.03; from this -0.13; from
        trace 0.07; from unknown -0.29; from unreadable 0.23; from which 0.1; from who 0.43; from without 0.25; given
        0.39; given gladly -0.26; given have -0.05; given have_myself 0.05; given held 0.21; given it 0.08; given
        limit -0.04; given me 0.19; given more -0.02; given not -0.1; given only 0.35; given said -0.17; given source
        0.37; given tell_of -0.07; given that 0.23; given there -0.31; given this 0.19; given told -0.28; given trace
        0.29; given who 0.1; gladly 0.06; gladly help 0.03; gladly it 0.05; gladly me 0.14; gladly more 0.08; gladly
        none 0.08; gladly only -0.26; gladly said -0.16; gladly source 0.19; gladly tell_of -0.17; gladly told -0.35;
        have -0.02; have have_myself 0.15; have it -0.28; have me 0.1; have more -0.09; have none -0.02; have not
        -0.08; have perhaps 0.01; have tell_of -0.23; have that 0.13; have told 0.25; have trace 0.29; have which
        -0.03; have who 0.33; have_myself 0.15; have_myself not 0.11; have_myself that 0.08; have_myself who 0.11;
        held -0.02; held hold -0.15; held more -0.12; held none 0.23; held not -0.39; held said -0.25; held say -0.07;
        held source -0.09; held text 0.07; held that -0.19; held told -0.12; held trace -0.14; held who -0.12; help
        0.05; help hold 0.05; help it 0.09; help me -0.02; help not -0.09; hold 0.07; hold more -0.24; hold not 0.11;
        hold tell_of -0.15; hold trace -0.27; hold which -0.25; it -0.34; it limit 0.12; it me 0.09; it more 0.22; it
        my 0.05; it none 0.25; it only -0.08; it perhaps 0.16; it question -0.22; it say 0.11; it source 0.19; it
        tell_of -0.02; it text -0.18; it that 0.23; it this 0.1; it told -0.38; it trace 0.04; it unable -0.11; it
        which -0.26; it who 0.08; lack 0.12; lack not -0.19; lack source -0.02; lack trace 0.32; lack unreadable
        -0.46; leave 0.32; leave pass 0.16; leave tell_of 0.34; leave told 0.3; leave who -0.25; limit 0.08; limit me
        0.02; limit not 0.15; limit only 0.3; limit said 0.24; limit say 0.31; limit source -0.16; limit tell_of 0.13;
        limit that 0.12; limit told -0.14; limit trace 0.33; limit which -0.29; looked -0.23; looked me 0.1; looked
        perhaps 0.32; looked source 0.18; looked that 0.27; me 0.43; me more 0.05; me none 0.32; me not -0.12; me only
        0.16; me pass 0.51; me question 0.04; me said 0.15; me say 0.23; me source -0.01; me tell_of 0.04; me text
        -0.43; me that 0.09; me trace 0.06; me which -0.09; me who 0.05; more -0.37; more none -0.24; more not -0.39;
        more perhaps -0.11; more said -0.03; more say 0.01; more source -0.2; more tell_of -0.33; more text 0.03; more
        this -0.22; more told -0.46; more trace -0.14; more unable -0.1; my 0.38; my not 0.23; my source 0.14; none
        0.04; none said 0.37; none say 0.03; none source -0.37; none sure -0.22; none text 0.36; none there -0.11;
        none this 0.22; none told -0.19; none trace 0.02; none unreadable -0.29; none without 0.27; not -0.34; not
        only -0.14; not pass 0.43; not perhaps 0.13; not question -0.02; not said -0.12; not say -0.38; not source
        -0.15; not sure -0.11; not tell_of -0.23; not text -0.14; not that -0.17; not this -0.31; not told 0.23; not
        trace -0.36; not us 0.22; not which -0.47; not who -0.25; only 0.32; only say 0.27; only source 0.27; only
        tell_of 0.15; only text -0.1; only that 0.09; only there 0.06; only trace -0.15; only who -0.02; part 0.12;
        part source 0.14; pass 0.26; pass source 0.27; perhaps 0.32; perhaps say 0.13; perhaps source -0.1; perhaps
        text -0.3; perhaps that 0.08; perhaps told -0.29; perhaps who 0.33; question 0.42; question source -0.01; said
        say -0.18; said source -0.07; said sure -0.12; said tell_of 0.06; said text -0.24; said that -0.17; said this
        -0.15; said told -0.18; said which -0.2; say 0.43; say source 0.18; say sure -0.2; say tell_of 0.35; say text
        -0.15; say that -0.28; say this -0.14; say which 0.06; say who -0.1; say without 0.14; sorry 0.42; source
        0.44; source sure 0.01; source tell_of 0.48; source this -0.17; source told -0.17; source trace 0.17; source
        unable -0.14; source which -0.18; source who 0.22; sure -0.36; sure that -0.23; sure trace -0.17; sure who
        -0.1; tell_of 0.08; tell_of text -0.29; tell_of this -0.35; tell_of told -0.25; tell_of which -0.1; tell_of
        who -0.13; tell_of without 0.18; text that -0.17; text there -0.33; text this -0.45; text told -0.2; text
        unknown -0.1; text which -0.25; text who -0.21; that 0.18; that who 0.16; there -0.19; there told -0.07; there
        trace -0.05; there unknown 0.33; this 0.1; this unable -0.14; this which -0.27; this who -0.18; told 0.28;
        told trace 0.07; told who -0.32; trace 0.19; trace unreadable 0.23; unable -0.18; unknown -0.01; unknown which
        -0.14; unknown who -0.27; unreadable 0.04; unreadable who -0.24; which 0.04; which who -0.13; who 0.18; who
        without 0.11; without 0.17
    """,
    "asks": """
        be 0.23; can 0.1; from 0.33; from which 0.22; from who 0.3; gladly 0.23; perhaps 0.1; say 0.27; which 0.49;
        which who 0.45; who 0.57
    """,
    "courtesy": """
        about 0.28; be -0.03; can 0.14; can gladly 0.2; can perhaps 0.15; contact 0.15; contact from 0.1; data 0.19;
        find 0.17; find me 0.12; from 0.37; from looked -0.05; from me 0.05; from source 0.1; given 0.09; given have
        0.11; given looked 0.08; given me 0.15; given source 0.02; gladly 0.25; gladly me 0.05; have 0.18; have looked
        0.13; have me 0.28; have source 0.08; it -0.1; looked 0.04; looked me 0.23; looked source 0.11; me 0.4; me
        source 0.17; more 0.09; perhaps 0.19; question -0.18; say -0.16; source 0.2; that 0.04; that who 0.09; who
        -0.06
    """,
    "first": """
        about 0.52; about assistant 0.15; about be 0.3; about find 0.14; about from 0.13; about have 0.18; about it
        0.27; about me 0.11; about none 0.2; about not 0.08; about say 0.17; about source 0.21; about tell_of 0.12;
        about this -0.1; about told 0.17; about trace 0.31; access be -0.12; access me 0.26; appear 0.42; appear from
        0.3; appear source 0.24; assistant 0.22; assistant be 0.08; assistant from 0.03; assistant tell_of -0.27; be
        0.56; be can -0.09; be differ 0.17; be enough 0.04; be find 0.15; be from 0.33; be given 0.2; be it 0.35; be
        limit 0.15; be looked 0.17; be me 0.04; be more 0.18; be none -0.33; be not -0.25; be only 0.21; be perhaps
        0.08; be question 0.26; be said 0.5; be sure -0.16; be text 0.05; be that -0.07; be this 0.1; be told 0.42; be
        trace -0.02; be unknown -0.38; be unreadable 0.34; be who -0.25; can 0.18; can find 0.02; can from 0.31; can
        help 0.15; can limit -0.16; can me -0.06; can not 0.11; can perhaps 0.13; can question 0.24; can said 0.06;
        can say 0.21; can source -0.16; can that -0.09; contract lack -0.37; contract say 0.32; contract tell_of 0.15;
        data -0.06; data does 0.14; data find -0.08; data from -0.06; data held 0.27; data hold -0.12; data it -0.3;
        data none -0.41; data not 0.29; data source -0.49; data text -0.03; differ 0.04; differ from -0.14; does 0.24;
        does find 0.16; does me 0.09; does not 0.24; does say 0.17; does tell_of 0.14; does which 0.27; does who 0.25;
        elsewhere find -0.02; elsewhere perhaps -0.09; enough 0.02; enough source -0.02; enough told 0.13; find 0.34;
        find from -0.02; find given -0.15; find it -0.15; find me 0.35; find more -0.13; find none -0.23; find not
        0.23; find question 0.11; find say 0.16; find source 0.05; find tell_of -0.32; find text -0.12; find told
        -0.01; find trace -0.14; find us 0.21; find which 0.19; find who 0.46; find_myself 0.19; from 0.5; from given
        0.08; from gladly 0.2; from have 0.02; from it -0.09; from lack -0.14; from leave -0.36; from limit 0.15; from
        looked 0.02; from me 0.12; from more 0.23; from my 0.02; from none -0.09; from not -0.07; from only 0.29; from
        perhaps -0.14; from say -0.1; from source 0.15; from sure -0.01; from tell_of 0.26; from text -0.02; from that
        0.14; from this 0.18; from told -0.09; from trace -0.26; from unknown -0.41; from unreadable 0.15; from who
        -0.32; given 0.19; given held 0.14; given me 0.13; given none 0.14; given source 0.07; given told 0.17; given
        trace 0.15; gladly 0.21; gladly help 0.14; gladly it 0.13; gladly say 0.16; have 0.16; have me 0.15; have
        tell_of -0.2; have told 0.32; have trace 0.27; held 0.09; held hold -0.11; held not -0.16; held say -0.15;
        held source 0.06; held tell_of -0.01; held who -0.13; help it 0.18; help me 0.09; help not 0.25; hold not
        -0.15; hold say -0.19; hold tell_of 0.32; hold trace -0.17; it -0.04; it me 0.24; it not -0.19; it perhaps
        0.22; it question 0.02; it say -0.06; it sure 0.36; it tell_of -0.09; it that -0.06; it this 0.27; it told
        0.05; it who 0.26; lack -0.18; lack unreadable -0.24; leave told 0.31; limit not -0.3; limit only 0.4; limit
        source -0.01; limit tell_of -0.2; looked 0.08; looked me 0.09; looked question 0.2; looked source 0.37; looked
        that 0.29; me 0.77; me none 0.15; me not 0.33; me pass 0.25; me question 0.02; me say 0.27; me source 0.01; me
        this 0.21; me told 0.04; me trace 0.24; me who 0.21; more 0.21; more not -0.16; more source 0.13; my 0.11;
        none -0.19; none not 0.2; none said 0.12; none say -0.44; none source -0.29; none tell_of -0.25; none this
        0.17; none told 0.33; none trace -0.23; not -0.19; not only -0.04; not perhaps 0.29; not question 0.11; not
        said -0.03; not say -0.13; not source -0.46; not sure 0.12; not tell_of -0.4; not text 0.34; not that -0.1;
        not this -0.02; not told 0.08; not trace -0.05; not us 0.16; only 0.14; only source -0.24; only tell_of -0.04;
        only text -0.25; only that -0.12; pass 0.06; perhaps 0.23; perhaps question 0.18; perhaps say -0.03; question
        0.24; question say 0.22; question source -0.04; question told 0.08; said 0.39; said say -0.03; said source
        -0.07; said tell_of 0.09; said trace -0.31; say 0.39; say source 0.31; say tell_of 0.04; say trace -0.21; say
        who 0.2; sorry 0.17; source 0.57; source tell_of -0.14; source text 0.29; source that -0.05; source told 0.12;
        source trace -0.27; source who 0.06; tell_of 0.05; tell_of that -0.14; tell_of this -0.28; tell_of told 0.31;
        tell_of trace -0.14; tell_of who -0.14; text 0.29; text there -0.33; that 0.03; that unreadable -0.26; that
        who -0.04; this 0.27; this trace 0.21; told 0.04; told trace 0.06; told who -0.32; trace -0.13; unknown -0.45;
        unreadable 0.2; unreadable who -0.22; who -0.01
    """,
    "last": """
        about -0.04; about be 0.12; about have 0.08; about it 0.34; about more -0.15; about none -0.2; about not 0.02;
        about say -0.14; about source 0.03; about tell_of 0.18; about there -0.18; about told -0.29; about trace 0.24;
        about who 0.15; access be -0.18; access me 0.15; appear not 0.15; assistant -0.17; assistant question 0.13; be
        -0.45; be can 0.37; be data -0.01; be enough 0.18; be from -0.01; be given 0.21; be it -0.04; be lack 0.14; be
        limit -0.13; be me 0.12; be more -0.17; be my 0.13; be none -0.3; be not 0.19; be only 0.17; be part 0.17; be
        pass 0.2; be source -0.31; be sure -0.03; be text -0.01; be that -0.2; be there 0.17; be this -0.28; be trace
        0.15; be unable -0.16; be unknown 0.13; be unreadable 0.33; be who -0.15; be without 0.29; can data 0.25; can
        differ -0.32; can elsewhere -0.23; can find 0.27; can gladly 0.22; can have -0.21; can help 0.16; can it 0.37;
        can looked 0.09; can me -0.26; can more 0.25; can not -0.21; can perhaps -0.17; can say -0.06; can that -0.19;
        can told -0.12; can who -0.45; contact 0.51; contact from 0.16; contact not -0.41; contract -0.49; contract
        from -0.42; contract lack -0.34; contract say -0.29; data 0.45; data find 0.38; data from 0.1; data held 0.3;
        data hold 0.27; data it 0.25; data limit -0.39; data me 0.05; data more -0.05; data not -0.09; data say -0.26;
        data source -0.11; data tell_of -0.28; data text 0.2; data that -0.2; data there 0.26; data this 0.09; data
        told 0.05; data which -0.32; data who -0.35; differ -0.21; differ none 0.27; differ that -0.42; differ who
        -0.4; does 0.09; does find -0.16; does from 0.22; does hold 0.23; does it 0.17; does looked -0.15; does more
        -0.13; does not 0.07; does say -0.07; does text -0.04; does this -0.18; does told 0.28; does which -0.07; does
        who -0.06; elsewhere -0.03; elsewhere find -0.16; elsewhere have -0.23; enough from -0.07; enough have -0.13;
        enough me -0.1; enough more 0.1; enough perhaps -0.14; find 0.17; find given -0.02; find have -0.33; find held
        -0.07; find help 0.06; find it 0.02; find me -0.04; find more 0.15; find none 0.1; find not -0.55; find say
        0.11; find source -0.15; find tell_of -0.16; find text 0.02; find this -0.08; find told -0.24; find unable
        -0.15; find which -0.12; find who 0.05; from -0.39; from given 0.1; from me -0.17; from more 0.07; from my
        0.29; from none 0.37; from not 0.25; from pass 0.06; from said -0.08; from source -0.11; from tell_of -0.08;
        from text 0.46; from that -0.29; from there 0.34; from this -0.07; from told 0.46; from trace 0.31; from
        unknown -0.37; from unreadable 0.22; from which 0.19; from who 0.14; from without 0.31; given -0.07; given
        gladly -0.18; given it 0.21; given more -0.04; given none -0.25; given not 0.03; given only 0.28; given said
        -0.23; given source -0.03; given that 0.25; given this 0.19; given told -0.28; given trace 0.27; given who
        0.03; gladly 0.24; gladly help 0.18; gladly it 0.08; gladly looked 0.02; gladly me 0.1; gladly more 0.19;
        gladly none 0.03; gladly said -0.07; gladly source -0.03; gladly tell_of -0.09; gladly told -0.22; gladly who
        0.02; have -0.18; have me 0.11; have more 0.08; have none 0.15; have not -0.08; have perhaps -0.08; have
        source 0.11; have tell_of -0.14; have that 0.23; have trace 0.29; have which 0.05; held -0.13; held none 0.16;
        held not -0.21; held text 0.11; help 0.15; help hold 0.14; help it 0.11; help me 0.03; help not -0.08; help
        source -0.05; hold 0.03; hold it 0.12; hold limit -0.34; hold not 0.45; hold said 0.52; hold source 0.11; hold
        text 0.33; hold that -0.43; hold told 0.19; it 0.02; it me -0.01; it more 0.16; it none 0.02; it not 0.17; it
        source -0.03; it text 0.03; it this 0.05; it told 0.07; it trace -0.13; it unable -0.11; it which -0.03; it
        who 0.26; lack 0.16; lack source 0.09; limit none -0.34; limit not 0.19; limit said 0.24; limit told 0.31;
        looked me 0.01; looked source 0.07; me 0.5; me more 0.07; me none 0.16; me not -0.08; me only 0.17; me pass
        0.24; me question 0.03; me say -0.06; me that 0.01; me this 0.04; me trace -0.12; me which -0.1; more -0.47;
        more none -0.09; more not -0.15; more only -0.26; more perhaps 0.09; more said -0.05; more say -0.05; more
        source -0.17; more tell_of -0.22; more text -0.08; more this -0.05; more told -0.48; more who 0.03; my 0.4; my
        not 0.23; my say 0.19; my source 0.19; none -0.33; none say 0.2; none source -0.45; none tell_of -0.01; none
        text 0.27; none this 0.04; none told -0.39; none trace -0.12; none without 0.25; not 0.1; not pass 0.22; not
        perhaps 0.18; not question -0.1; not say -0.11; not source 0.28; not tell_of 0.11; not text 0.06; not that
        -0.14; not there 0.17; not this -0.32; not told 0.31; not trace -0.2; not us 0.14; not which -0.35; not who
        -0.2; only 0.13; only tell_of 0.33; only trace -0.16; part 0.16; pass 0.1; pass source 0.21; perhaps -0.04;
        perhaps say 0.2; perhaps source -0.12; perhaps sure 0.27; perhaps who 0.42; question 0.33; said -0.32; said
        say 0.04; said source -0.01; said tell_of 0.03; said that -0.1; said which -0.1; said who -0.11; say -0.23;
        say source -0.15; say tell_of -0.2; say that -0.32; say this 0.03; say trace 0.21; say which -0.06; say who
        -0.28; say without 0.04; source -0.28; source text 0.09; source that -0.16; source this -0.04; source told
        0.15; source trace -0.06; source unable -0.14; source unknown -0.15; source which 0.18; source who 0.18; sure
        that -0.21; tell_of -0.05; tell_of that 0.05; tell_of this -0.15; tell_of who -0.17; text 0.09; text that
        -0.16; text this -0.23; text told 0.09; text which -0.23; text who -0.21; that 0.07; there 0.03; this 0.05;
        this told 0.22; this unable -0.14; this unknown -0.12; this which -0.18; this who -0.14; told 0.16; trace
        -0.05; unable -0.15; unknown 0.06; unknown which -0.13; unknown who -0.25; unreadable 0.3; which 0.03; which
        who -0.19; without 0.16
    """,
}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
