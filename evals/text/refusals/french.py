"""French."""

from evals.text.refusals.lexicon import ROMANCE, Language

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
        "without": "sans",
        "not": "ne n pas jamais ni nulle nullement non",
        "none": "aucun aucune rien nul",
        "text": """
            document documents documentation source sources texte textes contexte contextes extrait
            extraits fragment fragments
        """,
        "source": """
            manuel manuels notice notices rapport rapports page pages fichier fichiers guide guides
            section sections chapitre chapitres base bases connaissances brochure brochures contenu
            contenus fiche fiches livre lettre site donnees informations corpus recherche element
            elements ici resume compte reglement description organigramme etiquette entretien tableau
            recit chronique liste proces memoire dossiers notes bulletin annonce prospectus article
            articles passage passages biographie dossier lettres programme programmes contrat statuts
            courrier courriers formulaire formulaires registre registres menu carte horaire horaires
            journal journaux rubrique rubriques note catalogue plan comptes piece pieces mail mails
            courriel courriels enregistrement verbal clauses clause tarif tarifs affiche index wiki blog
            temoignage temoignages communique communiques etude etudes message messages facture factures
            mode emploi annexe annexes legende encadre paragraphe paragraphes echange edition depliant
            recueil archives archive presentation celle1 resultats resultat invitation carton conditions
            condition legendes grille grilles bon bons textes etiquettes instructions arrete arretes
        """,
        "contract": "contrat* police* garantie* assurance* bail loi lois tarif* prix",
        "told": """
            information informations info infos detail details precision precisions mention
            mentions reference references indication indications reponse reponses renseignement
            renseignements explication explications indice indices element elements trace
            eclaircissement acces conclusion mot mots traces ligne lignes base conseil conseils
            avis recommandation recommandations idee allusion
        """,
        "data": """
            donnee donnees chiffre chiffres resultat* preuve* correspondance* valeur* date document*
            contenu* passage* bilan
        """,
        "say": """
            precis* mentionn* indiqu* specifi* expliqu* evoqu* abord* parl* trait* decri* dit dise
            permet permett* cit* repond repondent signal* nomm* detaill* font revel* clarifi* prononc*
            confirm* enonc* rapport* stipul* prevoi* relat* rensei* traduit rapportent definit souffl*
            concret* chiffr* fourn* livr* liste listent enumer* tranch* dis aborder figur* evoquer
            laiss* appren* appris renseign* elucid* dire donner preciser mentionner indiquer expliquer
            citer nommer fournir parler donne donnent datent suffisent disent quantifi* defini* devoil*
            comment* approfond* recens* enseign* etabli* consign* racont* note resou* publi* divulgu*
            avanc* explicit* attribu* datent distingu*
        """,
        "tell_of": """
            traite traitent decrit decrivent mentionne mentionnent parle parlent porte portent
            aborde abordent contient contiennent cite citent evoque evoquent concerne concernent
            arrete arretent seulement uniquement limite limitent date datent interrompt
            commence couvre couvrent donne donnent incomplet incomplete explique expliquent
            detaille detaillent indique indiquent precise signale annonce annoncent recense
            recensent liste enumere presente presentent rapporte
        """,
        "hold": "contien* donn* fourni* offre* inclu* comport* propos* presente* renferm* apport* recel* livr*",
        "said": """
            precise* indique* mentionne* specifie* aborde* evoque* traite* cite* explique* decrit*
            renseigne* communique* dit nomme* detaille* rapporte* signale* releve* repertorie* liste
            listee listes listees chiffre chiffree chiffres publie publiee donne donnee donnes donnees
            fourni* clair claire clarifie* enonce* retranscrit* consigne* credite* datee fait faite
            lisible lisibles visible abordees documente* transmis* enregistre* explicite* inscrit* notee
            publiee* devoilee* dechiffrable* etablie* consignee* detaillees quantifie* resolu* defini*
            attribue* connu* reproduit* declare* calcule* tranche* explicitee* chiffrees
        """,
        "held": """
            trouve trouvee trouves trouvees disponible* inclus* donne donnee donnees donnes fourni fournie
            fournis fournies recense*
        """,
        "find": """
            trouver trouve trouvee repondre determiner determine* savoir sais sait dire etablir
            etabli* identifier identifi* localiser confirmer deduire deduit* connaitre connais
            fournir donner verifier conclure preciser vois voir apporter indiquer affirmer
            extraire renseigner repondu relever discerner comprendre tirer inferer saurais
            retrouver calculer calcule comparer deviner lire apprendre retrouve retrouvee reperer
            trancher chiffrer recommander prevoir prononcer evaluer estimer resumer lister
            decouvrir trouvons fixer nommer citer expliquer deduisent tirees etablie recuperer
            recupere vu
        """,
        "help": "aider assister speculer deviner accompagner aide supposer renseigner orienter traiter",
        "have": "ai avons dispose disposons",
        "have_myself": "dispose",
        "me": "je j me m moi",
        "us": "nous",
        "can": """
            peux peut puis pouvons peuvent possible mesure pu pouvoir capable parviens arrive
            reussi saurais saurait saurions parvenu parvenons permet
        """,
        "unable": "impossible incapable",
        "unknown": """
            inconnu inconnue inconnus inconnues incertain incertaine indetermine indeterminee
            insuffisant insuffisante insuffisants insuffisantes imprecis imprecise introuvable
            introuvables indisponible indisponibles flou floue inexplique
        """,
        "sure": "connu connue connus certain certaine sur clair claire su sait",
        "there": "y existe",
        "question": "question questions demande demandes requete requetes",
        "who": "qui quoi quand ou1 comment pourquoi si quel quelle quels quelles combien",
        "it": "il ils elle elles cela ce ceci ca en celui",
        "be": "est sont etait ete etre on se s reste demeure semble semblent a etant",
        "lack": """
            muet muette muets manque manquent absent absente absents silence silencieux vague omet
            omettent tait taisent tu muettes lacunaire introuvable introuvables incomplet
            incomplete
        """,
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
        "from": "dans de du des sur selon d a apres parmi au aux",
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
        "n b n~1 pg",
    ),
    unknowns=(
        "n~1 b~1 n~1 X",
        "b~1 n~2 X",
        "b~1 n~1 X~1 n",
    ),
    but=(r"mais",),
    however=(r"cependant|toutefois|en revanche|neanmoins|donc|or|pourtant",),
    hence=(r"si bien qu(?:e|')|de sorte qu(?:e|')|donc|aussi|c'est pourquoi",),
    although=(r"bien que|bien qu|meme si|meme s|quoique|tandis que|alors que",),
    relative=(r"que|qui|dont|ou1",),
    openers=(
        r"\W*(?:donc|par consequent|ainsi|cependant|toutefois|de plus|malheureusement|desole|desolee|"
        r"je suis desole|je suis desolee|je regrette|helas|pardon|toutes mes excuses)\b[\s,.:!–-]*(?:mais |que )?",
        r"(?:d'apres|selon|sur la base|a partir|en me basant sur|dans|compte tenu) [^,]{0,60}\b(?:contexte|"
        r"documents?|sources?|textes?|informations?|passages?|extraits?|donnees)\b[^,]{0,40}, ?",
    ),
    referrals=(
        r"\b(?:service|secretariat|mairie|bureau|assistance|support|equipe|conseiller\w*|medecin|avocat\w*|"
        r"pharmacien\w*|archives|administration|accueil|gestionnaire)\b.{0,60}\b(?:pourra|pourront|saura|sauront|"
        r"peut|peuvent|devrait|pourrait)\b|^(?:appelez|demandez|ecrivez|voyez|regardez|verifiez|rapprochez|parlez|"
        r"tournez)|\b(?:appelez|rapprochez-vous|renseignez-vous)\b|\bvous (?:pouvez|pourriez|trouverez|pourrez|"
        r"devriez)\b|^si vous\b|\bje (?:serai|reste|suis) (?:\w+ )?(?:a votre|ravi|heureu|dispo)\w*|"
        r"\bj'ai (?:bien )?(?:relu|lu|recu|verifie|note|compris)\b|\bje comprends\b",
    ),
    courtesy=(
        r"\bje comprends\b|^(?:bonjour|c'est une (?:bonne|excellente|tres bonne))\b|\bj'ai (?:bien )?(?:relu|lu|"
        r"recu|verifie|note|compris)\b",
        r"\b(?:veuillez|merci|contactez|n'hesitez|n'hesitez|je vous (?:invite|recommande|conseille|suggere)|"
        r"puis-je|adressez-vous|consultez|essayez|vous pouvez|vous pourriez|s'il vous plait|s'il vous plait|"
        r"desole|desole|excuses|j'ai (?:cherche|parcouru|examine|consulte))\b",
    ),
    guesses=(
        r"\bdonc\b",
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
    reasons=(r"comme|puisque?|etant donne que|faute d(?:e\b|')",),
    apart=(
        r"sans (?:\w+ment |rien |en |y |toutefois |cependant |pour autant |jamais |qu)*(?:dire|donner|preciser|"
        r"indiquer|mentionner|nommer|citer|expliquer|fournir|parler|evoquer|chiffrer|dater|livrer|aborder)",
    ),
    conditions=(r"si|s(?=\s|\')|lorsque?|quand|au cas",),
    because=(r"parce que?|car",),
    hints="""
        difficile ignore ignorons que faudrait faut besoin necessaire cote ombre flou silence motus
        appartient releve arretent arrete interrompent interrompt terminent termine remontent manquer
        absent absente manquant
    """,
    declines=(
        r"\b(?:mes|dont je dispose|que j'ai|en ma possession)\b.{0,40}\b(?:s'arret\w+|s'interromp\w+|se termin\w+|"
        r"remont\w+ a)\b",
        r"\bsembl\w+ (?:absent|manquer|manquant)\w*",
        r"\b(?:laisse\w*|passe\w*|mis\w*) (?:de cote|dans l'ombre|dans le flou|sous silence)\b|\bne (?:m'a|m'ont|"
        r"nous a) (?:pas )?ete (?:transmis|fourni|communique)\w*",
        r"\bje n'ai que\b|\bje ne (?:dispose|vois|connais|possede) que\b|\b(?:n'ai|ne dispose|n'a|"
        r"n'avons) .{0,40}\bque (?:de |d'|du |des )",
        r"\b(?:il (?:me |nous )?(?:faudrait|faut)|j'aurais besoin|il serait necessaire)\b.{0,120}\b(?:pour|afin)\b|"
        r"^pour (?:vous |y |te )?(?:repondre|le dire|donner)\b.{0,60}\b(?:faudrait|faut|besoin)\b",
        r"\b(?:il ne m'appartient pas|je ne suis pas (?:habilite|autorise|en mesure|qualifie|medecin|avocat)|"
        r"je n'ai pas (?:acces|le droit|vocation|connaissance|trouve|pu|reussi)|ne releve pas|n'entre pas dans)\w*",
        r"\b(?:ne (?:souffle|dit|donne|livre|pipe)\w* (?:pas )?(?:un )?mot|pas un mot|pas la moindre|"
        r"passe\w* (?:\w+ )?sous silence|garde\w* le silence|reste\w* muett?e?s?|motus)\b",
        r"\b(?:n'est|ne sont|n'a|n'ont|n'y|ne s'y|ne se)\b.{0,60}\bnulle part\b|\bnulle part\b.{0,80}\b(?:question|"
        r"mentionne|precise|indique|dit)\w*",
        r"\bil n'(?:est|y est|en est)\b.{0,20}\b(?:fait|nulle part|pas|aucunement)\b.{0,20}\b(?:mention|question|"
        r"etat|allusion)\b|\bil (?:manque|me manque)\b",
        r"\b(?:je n'en (?:sais|ai)|je ne (?:le )?sais|je ne saurais|nous ne savons|on ne (?:sait|peut|trouve|lit)|"
        r"impossible (?:donc |ici |alors |pour moi )?de|rien n'(?:y|est|indique|en)|rien (?:sur|dans|a ce sujet))\b",
        r"\b(?:n'a|n'ont) (?:rien )?(?:donne|renvoye|retourne|produit|livre|ramene)\b.{0,20}\b(?:aucun|rien|pas|"
        r"resultat)\b|\b(?:n'a|n'ont) rien (?:donne|renvoye)",
        r"\bn(?:e |')(?:en )?(?:fait|font) (?:pas |aucune? |nulle? )?(?:etat|mention)\b",
        r"\bdifficile (?:a|de) (?:dire|savoir|determiner|repondre)\b",
        r"\b(?:je l'ignore|j'ignore|on ignore|nous ignorons|aucune idee|aucune idee|faute d(?:e|"
        r"')\s?\w+ .{0,40}(?:source|document|texte|contexte|extrait)s?)\b",
        r"\b(?:hors|en dehors) (?:de |du |des )?(?:mon|ma|mes|le|la|cadre|champ|documents?|sujet)\b",
        r"\bje (?:ne )?peux (?:repondre|aider)\b.{0,30}\bqu(?:'|e\b)",
        r"\bsans (?:reponse|information)\b",
    ),
    bare=(
        r"introuvables?|in(?:determine|determinee|determinable|disponible|connue?|certaine?)s?|sans (?:objet|"
        r"precision|mention|indication)|je (?:ne )?sais pas|(?:information|donnee|reponse)s? (?:non \w+|absente|"
        r"introuvable|indisponible|manquante)s?|non (?:determine|communique|fourni|renseigne|repertorie|documente|"
        r"publie)e?s?|aucune? (?:mention|precision|indication|resultat|trace|reference)(?: [\w' ]{1,40})?|"
        r"pas (?:de (?:mention|precision|donnees?)|precise|indique|mentionne|trouve)e?",
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
    doers="vainqueur gagnant auteur fondateur architecte compositeur inventeur proprietaire",
    asked={
        r"\bquand\b": "date jour annee mois moment horaire",
        r"\b(?:combien de temps|duree|delai)\b": "duree delai temps",
        r"\bcombien\b": "prix cout montant nombre chiffre total bilan hauteur poids",
        r"\bqui\b": "nom personne identite DOERS",
        r"\bgagn": "vainqueur gagnant",
        r"\bou1?\b": "lieu adresse endroit emplacement",
        r"\bpourquoi\b": "raison cause motif",
        r"\bcomment\b": "etape methode procedure",
        r"\bquelle? (?:age|taille|hauteur|superficie|vitesse)": "age taille hauteur superficie vitesse",
    },
)
