"""French."""

from evals.case.abstention.languages.base import Language
from evals.case.abstention.languages.romance import ROMANCE

FRENCH = Language(
    code="fr",
    function="""
        ai alors apres au aucun aussi autre aux avant avec avoir bien car ce cela celle celui ces cet cette
        chez ci comme comment concernant contre dans de depuis des donc dont du elle elles en encore entre est
        et etait ete etre eu eux fait fois font hors ici il ils je la le les leur leurs lors lui ma mais
        malgre malheureusement me meme mes moi moins mon ne nos notre nous on ont ou par parce pas pendant peu
        plus pour pourquoi pres puis qu quand que quel quelle quelles quels qui quoi sa sans se selon ses si
        son sont sous sur ta te tes toi ton toujours tous tout toute toutes tres tu un une vers voici vos
        votre vous y cependant toutefois neanmoins fournis fourni fournies fournie sujet propos egard revanche
        partir base ainsi desole desolee afin
    """,
    words={
        "not": "ne n pas jamais ni nulle nullement non",
        "none": "aucun aucune rien nul",
        "text": """
            document documents documentation source sources texte textes contexte contextes extrait
            extraits fragment fragments
        """,
        "source": """
            manuel manuels notice notices rapport rapports page pages fichier fichiers guide guides
            section sections chapitre chapitres base bases connaissances brochure brochures contenu
            contenus fiche fiches livre lettre site donnees informations corpus recherche element elements
            ici resume compte reglement description organigramme etiquette entretien tableau recit
            chronique liste proces memoire dossiers notes bulletin annonce prospectus article articles
            passage passages biographie dossier
        """,
        "contract": "contrat* police* garantie* assurance* bail loi lois tarif* prix",
        "told": """
            information informations info infos detail details precision precisions mention mentions
            reference references indication indications reponse reponses renseignement renseignements
            explication explications indice indices element elements trace eclaircissement acces
            conclusion
        """,
        "data": """
            donnee donnees chiffre chiffres resultat* preuve* correspondance* valeur* date document*
            contenu* passage* bilan
        """,
        "say": """
            precis* mentionn* indiqu* specifi* expliqu* evoqu* abord* parl* trait* decri* dit disent dise
            permet permett* cit* repond repondent signal* nomm* detaill* font revel* clarifi* prononc*
            confirm* enonc* rapport* stipul* prevoi* relat* rensei* traduit rapportent definit
        """,
        "tell_of": """
            traite traitent decrit decrivent mentionne mentionnent parle parlent porte portent aborde
            abordent contient contiennent cite citent evoque evoquent concerne concernent
        """,
        "hold": "contien* donn* fourni* offre* inclu* comport* propos* presente* renferm* apport* recel* livr*",
        "said": """
            precise* indique* mentionne* specifie* aborde* evoque* traite* cite* explique* decrit*
            renseigne* communique* dit nomme* detaille* rapporte* signale* releve*
        """,
        "held": """
            trouve trouvee trouves trouvees disponible* inclus* donne donnee donnees donnes fourni fournie
            fournis fournies recense*
        """,
        "find": """
            trouver trouve trouvee repondre determiner determine* savoir sais sait dire etablir etabli*
            identifier identifi* localiser confirmer deduire deduit* connaitre connais fournir donner
            verifier conclure preciser vois voir apporter indiquer affirmer extraire renseigner repondu
            relever discerner comprendre tirer inferer saurais retrouver
        """,
        "help": "aider assister speculer deviner accompagner aide supposer renseigner orienter traiter",
        "have": "ai avons dispose disposons",
        "have_myself": "dispose",
        "me": "je j me m moi",
        "us": "nous",
        "can": """
            peux peut puis pouvons peuvent possible mesure pu pouvoir capable parviens arrive reussi
            saurais saurait
        """,
        "unable": "impossible incapable",
        "unknown": """
            inconnu inconnue inconnus inconnues incertain incertaine indetermine indeterminee insuffisant
            insuffisante insuffisants insuffisantes
        """,
        "sure": "connu connue connus certain certaine sur clair claire su sait",
        "there": "y existe",
        "question": "question questions demande demandes requete requetes",
        "who": "qui quoi quand ou1 comment pourquoi si quel quelle quels quelles combien",
        "it": "il ils elle elles cela ce ceci ca en celui",
        "be": "est sont etait ete etre on se s reste demeure semble semblent a",
        "lack": "muet muette muets manque manquent absent absente absents silence silencieux vague omet omettent",
        "appear": "figure figurent apparait apparaissent ressort ressortent",
        "defined": "defini definie",
        "more": """
            plus autre autres davantage exact exacte exactement precisement explicitement expressement
            complet complete complementaire* supplementaire* officiel formellement directement telle
        """,
        "enough": "suffisant* suffisamment pertinent* assez utile*",
        "this": "cela ceci ca",
        "my": "mon ma mes notre nos",
        "outside": "hors dehors sort depasse",
        "from": "dans de du des sur selon d a apres",
        "that": "que qu",
        "part": "partie",
        "about": "sur concernant propos sujet",
    },
    rules=(
        *ROMANCE,
        "n~2 f~2 k",
        "n~1 b~2 k~1 a",
        "b~1 n~1 m~2 f",
        "k~3 aAs~4 n~3 bhgptf",
        "k~2 _~1 n~1 b~1 hgpt",
        "n~2 e~2 nk~3 aA",
    ),
    unknowns=(
        "n~1 b~1 n~1 X",
        "b~1 n~2 X",
        "b~1 n~1 X~1 n",
    ),
    but=(r"mais",),
    however=(r"cependant|toutefois|en revanche|neanmoins|donc|or|pourtant",),
    hence=(r"donc|aussi|c'est pourquoi",),
    although=(r"bien que|bien qu|meme si|meme s|quoique|tandis que|alors que",),
    relative=(r"que|qui|dont|ou1",),
    openers=(
        r"\W*(?:donc|par consequent|ainsi|cependant|toutefois|de plus|malheureusement|desole|desolee|"
        r"je suis desole|je suis desolee|je regrette|helas|pardon|toutes mes excuses)\b[\s,.:!–-]*(?:mais |que )?",
        r"(?:d'apres|selon|sur la base|a partir|en me basant sur|dans|compte tenu) [^,]{0,60}\b(?:contexte|"
        r"documents?|sources?|textes?|informations?|passages?|extraits?|donnees)\b[^,]{0,40}, ?",
    ),
    courtesy=(
        r"\b(?:veuillez|merci|contactez|n'hesitez|n'hesitez|je vous (?:invite|recommande|conseille|suggere)|"
        r"puis-je|adressez-vous|consultez|essayez|vous pouvez|vous pourriez|s'il vous plait|s'il vous plait|"
        r"desole|desole|excuses|j'ai (?:cherche|parcouru|examine|consulte))\b",
    ),
    guesses=(
        r"\b(?:probablement|vraisemblablement|sans doute|semble|semblerait|il semble|apparemment|environ|suggere|"
        r"laisse penser|laissent penser|on peut supposer|suppose que|generalement|devrait|indique que)\b",
    ),
    maybe=(
        r"\b(?:ailleurs|peut-etre|il se peut|dans un autre|d'autres documents|eventuellement)\b|"
        r"\bil est possible qu|^c'est possible\b",
    ),
    reports=(
        r"\b(?:si|reconnai\w*|admet\w*|soulign\w*|critiqu\w*|a dit|a declare|declare|affirm\w*|ecrit|si vous|"
        r"lorsque|parce que|car|doit|doivent|il faut|clients?|utilisateurs?|signifie|repondu)\b",
    ),
    declines=(
        r"\bn(?:e |')(?:en )?(?:fait|font) (?:pas |aucune? |nulle? )?(?:etat|mention)\b",
        r"\bdifficile (?:a|de) (?:dire|savoir|determiner|repondre)\b",
        r"\b(?:je l'ignore|j'ignore|on ignore|nous ignorons|aucune idee|aucune idee|faute d(?:e|"
        r"')\s?\w+ .{0,40}(?:source|document|texte|contexte|extrait)s?)\b",
        r"\b(?:hors|en dehors) (?:de |du |des )?(?:mon|ma|mes|le|la|cadre|champ|documents?|sujet)\b",
        r"\bje (?:ne )?peux (?:repondre|aider)\b.{0,30}\bqu(?:'|e\b)",
        r"\bsans (?:reponse|information)\b",
    ),
    bare=(
        r"(?:aucune (?:information|reponse|donnee|idee|mention)|non (?:precise|specifie|mentionne|indique|"
        r"communique|disponible|trouve|renseigne)e?s?|inconnue?|pas (?:d'information|de reponse)|sans reponse|"
        r"sans reponse)",
    ),
    quantity=(
        r"\bcombien\b",
        r"\bquel(?:le)? (?:est|etait) (?:le|la|l) ?(?:prix|montant|nombre|cout|age|taille|poids|population)\b",
    ),
    numbers="""
        un une deux trois quatre cinq six sept huit neuf dix onze douze vingt cent mille million demi gratuit
        rien
    """,
    asked={
        r"\bquand\b": "date jour annee mois moment horaire",
        r"\b(?:combien de temps|duree|delai)\b": "duree delai temps",
        r"\bcombien\b": "prix cout montant nombre chiffre total",
        r"\bqui\b": "nom personne identite",
        r"\bou\b": "lieu adresse endroit emplacement",
        r"\bpourquoi\b": "raison cause motif",
        r"\bcomment\b": "etape methode procedure",
        r"\bquelle? (?:age|taille|hauteur|superficie|vitesse)": "age taille hauteur superficie vitesse",
    },
)
