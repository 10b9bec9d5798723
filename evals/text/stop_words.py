"""English words that say nothing about what an answer is about. "Yes" and "no" are no such words: they answer."""

_WORDS = """
a about above across actually after afterwards again against all almost along already also although always am among an
and another any anybody anyone anything are around as at away be became because become becomes been before being below
between both but by can cannot could did do does doing done down due during each either else enough etc even ever every
everyone everything few first following for from further get gets given gives go goes had has have having he hence her
here hers herself him himself his how however i if in indeed instead into is it its itself just last least less like
made make makes many may maybe me might mine more moreover most much must my myself namely nearly neither never
nevertheless next nor not nothing now of off often on once one only onto or other others otherwise our ours ourselves
out over own per perhaps please quite rather really s said same say says see seem seems several shall she should since
so some somebody someone something still such than that the their theirs them themselves then there thereby therefore
these they thing things this those though through throughout thus to together too toward towards under unless until up
upon us use used uses using usually very via was we well were what whatever when whenever where whereas whether which
while who whoever whole whom whose why will with within without would yet you your yours yourself yourselves
"""

STOP_WORDS = frozenset(_WORDS.split())
