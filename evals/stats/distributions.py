"""The distributions that intervals and tests need, from the standard library alone.

Written here because scipy takes more than 100 MB; tests compare them with scipy's where it is installed.
"""

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

_CLOSE = 1e-13
"""Relative to the quantile: nearer than that, a further step changes nothing."""


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval of this confidence reaches to either side: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with df > 0 degrees of freedom, for 0.5 <= p < 1.

    By Newton's method, kept between bounds that close in on it; df need not be whole.
    """
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        low, high = high, high * 2
    t = (low + high) / 2
    while high - low > _CLOSE * max(1.0, high):
        excess = t_cdf(t, df) - p
        low, high = (low, t) if excess >= 0 else (t, high)
        step = t - excess / _t_density(t, df)
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= _CLOSE * max(1.0, t):
            return following
        t = following
    return (low + high) / 2


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) for Student's t with df degrees of freedom and t >= 0."""
    return 1 - 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def two_sided_p(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with df degrees of freedom."""
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def binomial_cdf(n: int, p: float) -> list[float]:
    """P(X <= k) for k = 0 … n - 1 of Binomial(n, p), 0 < p < 1."""
    total, cdf = 0.0, []
    for k in range(n):
        log_pmf = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p)
        total += exp(log_pmf) if log_pmf > -inf else 0.0
        cdf.append(min(1.0, total))
    return cdf


def _t_density(t: float, df: float) -> float:
    constant = lgamma((df + 1) / 2) - lgamma(df / 2)
    return exp(constant - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * pi)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction from the front by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _nonzero(1 + term * d, tiny)
            c = _nonzero(1 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _nonzero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
