"""Italian."""

from evals.case.abstention.languages.base import Language
from evals.case.abstention.languages.romance import ROMANCE

ITALIAN = Language(
    code="it",
    function="""
        adesso ai agli al alla alle allo altra altre altri altro anche ancora che chi ci come con contro cosa
        cui da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove e ed egli
        ella era essere fa fra gia gli ha hanno i il in inoltre invece io la le lei li lo loro lui ma mi mia
        mie miei mio molto ne nei nel nella nelle nello noi non nostro o od ogni oppure per percio perche pero
        piu poi possibile presso prima purtroppo qua qual quale quali quando quanto quella quelle quelli
        quello questa queste questi questo qui quindi sara se sei sempre senza si sia sono sopra sotto sta su
        sua sue sugli sui sul sulla sulle suo suoi tra tu tua tutta tutte tutti tutto un una uno va vi voi
        vostro tuttavia forniti fornito fornite fornita merito proposito riguardo base spiacente dispiace
        partire
    """,
    words={
        "not": "non ne1 mai nemmeno neanche neppure",
        "none": "nessun nessuna nessuno niente nulla alcun alcuna alcuno senza",
        "text": """
            documento documenti documentazione fonte fonti testo testi contesto contesti brano brani
            estratto estratti
        """,
        "source": """
            passo passi manuale manuali rapporto rapporti relazione pagina pagine file guida guide sezione
            sezioni capitolo capitoli opuscolo foglietto base contenuto contenuti libro lettera knowledge
            dati informazioni sito qui corpus scheda conoscenza regolamento organigramma cronaca referto
            descrizione etichetta intervista tabella verbale riassunto elenco nota note annuncio racconto
            fascicolo articolo articoli materiale materiali passaggio passaggi biografia
        """,
        "contract": """
            contratto contratti polizza polizze garanzia garanzie assicurazione legge leggi tariffa
            tariffe prezzo
        """,
        "told": """
            informazione informazioni info dettaglio dettagli menzione riferimento riferimenti indicazione
            indicazioni risposta risposte spiegazione spiegazioni indizio indizi accenno accenni notizia
            notizie dato chiarimento accesso
        """,
        "data": """
            dati cifra cifre risultato risultati corrispondenza corrispondenze prova prove documento
            documenti contenuto numero
        """,
        "say": """
            dice dicono dica indic* menzion* specific* precis* spieg* tratta trattano trattarne tratti
            parl* descriv* permette permettono permetta permettano consente consentono consenta cit*
            chiar* accenn* affront* nomin* rispond* fa fanno rivel* rifer* conferm* stabili* preved*
            pronunc* dettagli* capisce
        """,
        "tell_of": """
            tratta trattano descrive descrivono menziona menzionano parla parlano affronta affrontano
            contiene contengono riguarda riguardano cita citano
        """,
        "hold": """
            contien* conteng* fornisc* forniscono offr* includ* riport* da1 danno aggiung* presenta
            presentano copre coprono
        """,
        "said": """
            menzionat* indicat* specificat* precisat* spiegat* descritt* trattat* citat* riportat*
            affrontat* ricavat* dedott* stabilit* chiarit* nominat* documentat* determinat* riferit*
            registrat* desunt*
        """,
        "held": "inclus* disponibil* contenut* trovat* fornit* present*",
        "find": """
            trovare trovato trovata trovati trovate trovo rispondere determinare sapere so dire
            identificare confermare dedurre stabilire ricavare individuare verificare conoscere fornire
            desumere vedere vedo capire dare darle darti individuato reperito reperire localizzare
            precisare evincere saprei indicare capisce
        """,
        "find_myself": "so trovo vedo conosco sappiamo troviamo saprei",
        "help": """
            aiutare aiutarti aiutarla aiutarvi assistere assisterti speculare ipotizzare ipotesi
            indovinare darle darti informarla
        """,
        "have": "ho abbiamo dispongo disponiamo",
        "have_myself": "ho dispongo disponiamo abbiamo possiedo",
        "me": "io posso ho riesco mi preferisco temo",
        "us": "possiamo abbiamo riusciamo noi",
        "can": "puo1 possono possibile grado riesce riuscito riuscita potuto posso possiamo poter",
        "unable": "impossibile incapace",
        "unknown": "sconosciuto sconosciuta sconosciuti incerto incerta ignoto ignota insufficiente insufficienti",
        "sure": "chiaro chiara sicuro sicura noto nota noti conosciuto conosciuta certo certa sa conosce",
        "there": "c ci esiste esistono sono vi",
        "question": "domanda domande richiesta richieste quesito ricerca",
        "who": "chi che cosa quale quali quando dove come perche quanto quanti se",
        "it": "lo questo cio ne questa quello",
        "be": "e1 sono era stato stata stati viene vengono si essere sia rimane resta sembra sembrano va risulta",
        "lack": "manca mancano assente assenti tace tacciono omette silenzio",
        "appear": "compare compaiono compaia figura figurano risulta risultano appare appaiono emerge emergono",
        "defined": "definit*",
        "more": """
            altro altra altri altre piu ulteriore ulteriori esatto esatta esattamente esplicitamente
            espressamente preciso completo completa ufficiale diretto direttamente
        """,
        "enough": "sufficient* rilevant* pertinent* abbastanza",
        "this": "cio questo quello",
        "my": "mio mia miei mie nostro nostra nostri nostre",
        "outside": "fuori esula esulano oltre",
        "from": "nel nella nei nelle nell dal dalla dai dalle dagli in di del della dei delle dello",
        "that": "che",
        "part": "parte",
        "about": "su sul sulla sui sulle circa riguardo merito",
    },
    rules=(
        *ROMANCE,
        "n~2 b~1 f",  # non si trova
        "n~2 l",
        "k~2 s~4 fgp",
    ),
    unknowns=(
        "b~1 n~1 X",
        "n~1 b~1 X",
    ),
    but=(r"ma",),
    however=(r"pero|tuttavia|mentre|invece|comunque",),
    hence=(r"quindi|percio|pertanto|dunque",),
    although=(r"anche se|sebbene|benche|nonostante|pur|malgrado",),
    relative=(r"che|cui",),
    openers=(
        r"\W*(?:pertanto|quindi|dunque|tuttavia|inoltre|purtroppo|sfortunatamente|mi dispiace|mi spiace|"
        r"spiacente|scusa|scusi|siamo spiacenti)\b[\s,.:!–-]*(?:ma |che )?",
        r"(?:in base|sulla base|secondo|stando|dai|dalle|nei|nelle|nel|nella) [^,]{0,60}\b(?:contesto|documenti|"
        r"documento|fonti|testo|testi|informazioni|passaggi|brani|estratti|dati)\b[^,]{0,40}, ",
    ),
    courtesy=(
        r"\b(?:per favore|si prega|grazie|contatt\w*|la invito|le consiglio|ti consiglio|consiglio|suggerisco|"
        r"posso aiutar\w*|prova a|provi a|rivolgersi|rivolgiti|si rivolga|puoi (?:provare|contattare|consultare)|"
        r"puo (?:provare|contattare|consultare)|mi dispiace|ho (?:cercato|esaminato|controllato|consultato))\b",
    ),
    guesses=(
        r"\b(?:probabilmente|presumibilmente|sembra|sembrerebbe|pare|a quanto pare|circa|suggerisc\w*|"
        r"lascia intendere|lasciano intendere|si puo dedurre|si puo1 dedurre|suppongo|credo|dovrebbe|di solito|"
        r"in genere|generalmente)\b",
    ),
    maybe=(
        r"\b(?:forse|magari|altrove|in un altro|in altri|eventualmente)\b|\bpuo1 darsi\b|\be1 possibile(?: che\b|$)",
    ),
    reports=(
        r"\b(?:se|ammett\w*|riconosc\w*|critic\w*|ha detto|disse|dichiar\w*|afferm\w*|scriss\w*|se non|quando|"
        r"perche|poiche|deve|devono|bisogna|clienti|cliente|utenti|utente|significa|rispose|ha risposto)\b",
    ),
    declines=(
        r"\bnon c'?e?1? modo di (?:saper\w*|stabilir\w*|dir\w*)\b",
        r"\bdifficile (?:da )?(?:dir\w*|saper\w*|stabilir\w*)\b",
        r"\b(?:non (?:lo )?so|si ignora|lo ignoro|ignoro|nessuna idea|non saprei|boh)\b",
        r"\bfuori (?:dal|dalla|dal mio|del mio) (?:ambito|campo|contesto|portata)\b|\besula\b",
        r"\bposso (?:solo|soltanto) (?:rispondere|aiutare)\b|\bposso rispondere (?:solo|soltanto)\b",
    ),
    bare=(
        r"(?:nessuna (?:informazione|risposta|indicazione|idea)|nessun (?:dato|risultato)|non (?:specificat[oa]|"
        r"indicat[oa]|disponibile|menzionat[oa]|trovat[oa]|not[oa]|pervenut[oa]|precisat[oa])|sconosciut[oa]|"
        r"ignot[oa]|senza risposta|dato non disponibile)",
    ),
    quantity=(r"\bquant[oaie]\b",),
    numbers="""
        un una uno due tre quattro cinque sei sette otto nove dieci undici dodici venti cento mille mila
        milione mezzo gratis niente
    """,
    asked={
        r"\bquando\b": "data giorno anno mese momento orario",
        r"\bquanto (?:tempo|dura|ci mette)\b": "durata termine tempo",
        r"\bquant[oaie]\b": "prezzo costo importo numero cifra totale",
        r"\bchi\b|\bcome si chiama\b": "nome persona identita autore",
        r"\bdov(?:e|')": "luogo indirizzo posto sede",
        r"\bperche\b": "ragione causa motivo",
        r"\bcome (?:si|posso|faccio|resetto|richiedo)\b": "passagg metodo procedura",
    },
)
