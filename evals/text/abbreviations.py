"""Which words of English end with a full stop that ends no sentence: what Punkt would otherwise have to learn."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BEFORE_NAMES = _words(
    "mr mrs ms mx messrs mmes dr prof rev fr hon gen col lt capt cmdr adm sgt cpl maj gov sen rep pres supt st mt "
    "e.g i.e eg ie cf viz vs v al esp incl excl approx ca resp nos fig figs vol vols pp para paras ed eds trans tab "
    "sec secs subsec sect ch dept univ"
)
"""After these a sentence goes on, whatever follows."""

ANYWHERE = _words(
    "etc inc ltd co corp plc llc llp gmbh bros assn jr sr esq ph.d m.d b.a m.a b.sc m.sc ll.m ll.b j.d d.c "
    "u.s u.k u.n e.u u.s.a u.s.c n.y a.m p.m b.c a.d jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed "
    "thu thur thurs fri ave blvd rd hwy apt bldg ste tel ext est misc avg temp c.f.r f.2d f.3d f.supp s.ct op cit "
    "ibid n.b p.s r.s.v.p w.r.t a.k.a c.o.d p.a"
)
"""These may stand at the end of a sentence: it ends there where a word of `STARTERS` follows with a capital."""

BEFORE_NUMBERS = _words("no art p mar sat sun cl clause reg ex app col max min nr n rule")
"""Words of their own, which are abbreviations before a number only."""

STARTERS = _words(
    "the a an this that these those it its he she they we you i his her their our your my there here in on at by for "
    "from with without if when while where as after before since until although though because however therefore thus "
    "moreover furthermore also but and or nor so yet no not all any each every some many most both such who what why "
    "how which is are was were do does did can could will would shall should may might must once please under "
    "according another other one"
)
"""Words that begin a sentence where they stand with a capital after a full stop."""
