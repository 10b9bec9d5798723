"""Nouns by which answers name their sources, and those of contracts and the like, which hold facts themselves."""

CITED = (
    r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|extracts?|"
    r"articles?|manuals?|pages?|files?|guides?|guidelines|knowledge base|leaflet|brochure|data ?sheet|reports?|readme|"
    r"records?|chunks?|handbook|chapters?|paragraphs?|snippets?|narrative|transcript|minutes|section|appendix|faq|"
    r"entry|entries|story|novel|book|letter|speech|summary|notes|sections|search results?|database|corpus|index)"
)
"""What answers cite: where it is silent, the answer declines."""

CONTRACT = (
    r"(?:polic(?:y|ies)|contracts?|agreements?|insurances?|warrant(?:y|ies)|guarantees?|plans?|leases?|licen[cs]es?|"
    r"laws?|acts?|rules?|regulations?|statutes?|treat(?:y|ies)|clauses?|tariffs?|terms|subscriptions?|memberships?|packages?|fees?|prices?|"
    r"rates?|rents?|fares?|tickets?|premiums?|kits?|schemes?)"
)
"""What covers, gives or forbids: where it does not, that is a fact."""
