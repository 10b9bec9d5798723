"""Italian."""

from evals.text.refusals.lexicon import ROMANCE, Language

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
        "without": "senza",
        "not": "non ne1 mai nemmeno neanche neppure",
        "none": "nessun nessuna nessuno niente nulla alcun alcuna alcuno senza",
        "text": """
            documento documenti documentazione fonte fonti testo testi contesto contesti brano brani
            estratto estratti
        """,
        "source": """
            passo passi manuale manuali rapporto rapporti relazione pagina pagine file guida guide
            sezione sezioni capitolo capitoli opuscolo foglietto base contenuto contenuti libro lettera
            knowledge dati informazioni sito qui corpus scheda conoscenza regolamento organigramma
            cronaca referto descrizione etichetta intervista tabella verbale riassunto elenco nota note
            annuncio racconto fascicolo articolo articoli materiale materiali passaggio passaggi
            biografia schede lettere programma programmi listino listini statuto bolletta verbali
            registro registri menu cronache resoconto resoconti modulo moduli giornale giornali mail
            email messaggio messaggi fattura fatture allegato allegati calendario orario catalogo studio
            studi clausola clausole edizione bollettino comunicato wiki blog trascrizione istruzioni
            ricerca bugiardino brochure volantino brano testimonianza contratto prospetto tabelle
            archivio documentazioni paragrafo paragrafi didascalia avviso avvisi risultati invito carte
            condizioni tabellone istruzione carta etichette grafico grafici appunti norme normativa
            bando bandi
        """,
        "contract": """
            contratto contratti polizza polizze garanzia garanzie assicurazione legge leggi tariffa
            tariffe prezzo
        """,
        "told": """
            informazione informazioni info dettaglio dettagli menzione riferimento riferimenti
            indicazione indicazioni risposta risposte spiegazione spiegazioni indizio indizi
            accenno accenni notizia notizie dato chiarimento accesso parola parole base cenno
            cenni consulenza consiglio consigli consulenze raccomandazione menzioni data
        """,
        "data": """
            dati cifra cifre risultato risultati corrispondenza corrispondenze prova prove documento
            documenti contenuto numero
        """,
        "say": """
            dice dicono dica indic* menzion* specific* precis* spieg* tratta trattano trattarne tratti
            parl* descriv* permette permettono permetta permettano consente consentono consenta cit*
            chiar* accenn* affront* nomin* rispond* fa fanno rivel* rifer* conferm* stabili* preved*
            pronunc* dettagli* capisce riport* fornisc* da1 spend* tocc* dire dare precisare menzionare
            indicare spiegare nominare citare chiarire fornire fissarne dirne darne specificare
            accennare lascia lasciano parlano parlarne quantific* aggiung* capire elenca elencano fissa
            fissano bastano dichiar* stabilis* contempl* registr* svel* approfond* defin* comment*
            esprim* esplicit* racconta* entra* sbilanci* risolv* pubblic* attribu* divulg* insegn*
            dedic* raccog*
        """,
        "tell_of": """
            tratta trattano descrive descrivono menziona menzionano parla parlano affronta
            affrontano contiene contengono riguarda riguardano cita citano solo soltanto
            unicamente fermano ferma finisce finiscono termina terminano copre coprono spiega
            spiegano elenca elencano limita limitano interrompe incompleto riporta riportano
            indica indicano accenna accennano racconta raccontano riferisce riferiscono arriva
            arrivano
        """,
        "hold": """
            contien* conteng* fornisc* forniscono offr* includ* riport* da1 danno aggiung* presenta
            presentano copre coprono
        """,
        "said": """
            menzionat* indicat* specificat* precisat* spiegat* descritt* trattat* citat* riportat*
            affrontat* ricavat* dedott* stabilit* chiarit* nominat* documentat* determinat* riferit*
            registrat* desunt* elencat* dat1 quantificat* pubblicat* accreditat* annotat* datat* dett*
            fornit* leggibil* trascritt* tratt* reperibil* calcolat* confrontat* chiar* fatt*
            rintracciabil* rinvenut* individuat* attribuit* desumibil* ricavabil* deducibil*
            verificabil* dichiarat* comunicat* rilevat* rilasciat* definit* risolt* esplicitat* svelat*
            divulgat* confermat* annoverat* contemplat* reso resi resa
        """,
        "held": "inclus* disponibil* contenut* trovat* fornit* present*",
        "find": """
            trovare trovato trovata trovati trovate trovo rispondere determinare sapere so dire
            identificare confermare dedurre stabilire ricavare individuare verificare conoscere fornire
            desumere vedere vedo capire dare darle darti individuato reperito reperire localizzare
            precisare evincere saprei indicare capisce calcolare confrontare trova trovano leggere
            consigliare prevedere valutare stimare riassumere dirle dirti dirvi rispondervi risponderle
            risponderti spiegare spiegarle pronunciarmi fornirle fornirti recuperare recuperato
            restituito prodotto rintracciare rinvenire rinvenuto rintracciato calcola scoprire
            confermarlo indicarle nominare deduce desume ricava evince comprendere indicarti indicarlo
            confermarle confermarti precisarle risalire rivelare fornirlo dirlo dirvelo dirglielo
            esprimermi esprimersi garantire garantirle assicurare
        """,
        "find_myself": "so trovo vedo conosco sappiamo troviamo saprei visto",
        "help": """
            aiutare aiutarti aiutarla aiutarvi assistere assisterti speculare ipotizzare ipotesi
            indovinare darle darti informarla
        """,
        "have": "ho abbiamo dispongo disponiamo",
        "have_myself": "ho dispongo disponiamo abbiamo possiedo",
        "me": "io posso ho riesco mi preferisco temo",
        "us": "possiamo abbiamo riusciamo noi",
        "can": """
            puo1 possono possibile grado riesce riuscito riuscita potuto posso possiamo poter condizione
            condizioni abilitato abilitata
        """,
        "unable": "impossibile incapace",
        "unknown": """
            sconosciuto sconosciuta sconosciuti incerto incerta ignoto ignota insufficiente
            insufficienti imprecisato imprecisata indeterminato indeterminata irreperibile
            illeggibile illeggibili
        """,
        "sure": "chiaro chiara sicuro sicura noto nota noti conosciuto conosciuta certo certa sa conosce",
        "there": "c ci esiste esistono sono vi",
        "question": "domanda domande richiesta richieste quesito ricerca",
        "who": "chi che cosa quale quali quando dove come perche quanto quanti se",
        "it": "lo questo cio ne questa quello",
        "be": "e1 sono era stato stata stati viene vengono si essere sia rimane resta sembra sembrano va risulta",
        "lack": """
            manca mancano assente assenti tace tacciono omette silenzio mancando mancante mancanti
            incompleto incompleta sorvola sorvolano omettono muto muta muti mute
        """,
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
        "from": "nel nella nei nelle nell dal dalla dai dalle dagli in di del della dei delle dello tra fra",
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
    hence=(r"per cui|cosi che|sicche|quindi|percio|pertanto|dunque",),
    although=(r"anche se|sebbene|benche|nonostante|pur|malgrado",),
    relative=(r"che|cui",),
    openers=(
        r"\W*(?:pertanto|quindi|dunque|tuttavia|inoltre|purtroppo|sfortunatamente|mi dispiace|mi spiace|"
        r"spiacente|scusa|scusi|siamo spiacenti)\b[\s,.:!–-]*(?:ma |che )?",
        r"(?:in base|sulla base|secondo|stando|dai|dalle|nei|nelle|nel|nella) [^,]{0,60}\b(?:contesto|documenti|"
        r"documento|fonti|testo|testi|informazioni|passaggi|brani|estratti|dati)\b[^,]{0,40}, ",
    ),
    referrals=(
        r"\b(?:segreteria|ufficio|servizio clienti|servizio|assistenza|medico|avvocato|farmacista|comune|team|"
        r"sportello|archivio)\b.{0,60}\b(?:potra|potranno|puo1|possono|dovrebbe|potrebbe|sapra|sapranno)\b|"
        r"\b(?:puo1|puoi|potrebbe|potresti|potete) (?:\w+ )?(?:chiamare|consultare|rivolger\w*|scrivere|chiedere|"
        r"guardare|verificare|contattare|trovare|provare|visitare|telefonare)\w*|^(?:chiami|chiama|chieda|chiedi|"
        r"scriva|scrivi|verifichi|guardi|visiti|consulti|si rivolga|ne parli|parli)\b|^se (?:ha|hai|vuole|vuoi|"
        r"desidera|mi|le|ti)\b|\b(?:capisco|comprendo) che\b|^(?:ho|abbiamo) (?:letto|riletto|guardato|verificato|"
        r"consultato)\b",
    ),
    courtesy=(
        r"\b(?:capisco|comprendo) che\b|^(?:buongiorno|salve|ciao|ringrazi\w+|(?:ho|abbiamo) (?:letto|riletto|"
        r"guardato|verificato))\b",
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
    reasons=(r"poiche|dato che|siccome|mancando|essendo",),
    apart=(
        r"senza (?:\w+mente |pero |tuttavia |mai |che )*(?:dir|dar|precisar|indicar|menzionar|nominar|citar|spiegar|"
        r"fornir|parlar|specificar|chiarir|fissar|accennar|riportar)(?:e|ne|lo|la|ci)\w*",
    ),
    conditions=(r"se|quando|qualora|nel caso",),
    because=(r"perche|poiche",),
    hints="""
        difficile ignora ignoro esula esulano solo soltanto solamente unicamente servirebbe servirebbero
        occorrerebbe occorrerebbero bisognerebbe avrei dovrei resta restano rimane rimangono lascia
        lasciano rimasto rimasta rimasti rimaste lasciato boh spiace dispiace interrompono fermano
        terminano finiscono arrestano mancare assente
    """,
    declines=(
        r"\b(?:miei|mie|che ho|di cui dispongo|a mia disposizione)\b.{0,40}\b(?:si interromp\w+|si ferm\w+|"
        r"terminan\w*|finiscon\w*|si arrest\w+)\b",
        r"\bsembra\w* (?:mancare|assente)\b",
        r"\b(?:rimast[oaie]|lasciat[oaie]|resta\w*) (?:fuori|all'oscuro|al buio)\b|\bnon (?:mi|ci) (?:e1|"
        r"sono) stat[oaie] (?:fornit|trasmess|inviat|caricat)\w*|\bnon (?:basta|bastano)\b",
        r"\b(?:ho|dispongo|conosco|vedo) (?:solo|soltanto|solamente|unicamente)\b|\b(?:solo|soltanto) (?:ho|"
        r"dispongo)\b",
        r"\b(?:mi |ci )?(?:servirebbe|servirebbero|occorrerebbe|occorrerebbero|bisognerebbe|avrei bisogno|"
        r"dovrei (?:vedere|consultare|conoscere|avere))\b",
        r"\b(?:non (?:sono|siamo) (?:autorizzat|abilitat|qualificat|in grado|un medico|un avvocato|"
        r"in condizione)\w*|non (?:mi|ci) (?:compete|spetta|e1 possibile|e1 consentito|risulta)|non (?:posso|riesco|"
        r"riusciamo|potrei|saprei|trovo|vedo))\b",
        r"\b(?:nemmeno una parola|non (?:spende|spendono|dice|dicono) (?:una )?parola|"
        r"non c'?\s?e1 (?:alcuna? )?(?:traccia|cenno|menzione|accenno|riferimento)|nessun(?:a)? (?:cenno|accenno|"
        r"menzione)|da nessuna parte|in nessun(?:a)? (?:punto|pagina|passo|brano))\b",
        r"\b(?:nulla|niente) (?:si |viene |e1 )?(?:dice|dicono|detto|indica|menziona|riferisce|risulta|emerge)\b|"
        r"\bnon (?:si )?(?:dice|indica|menziona|riporta|precisa) (?:nulla|niente)\b|\b(?:spiace|dispiace|rammarico|"
        r"rincresce) (?:ma )?(?:di )?non (?:poter|saper|aver)\w*",
        r"\b(?:resta|restano|rimane|rimangono|lascia|lasciano)\b.{0,40}\b(?:imprecisat|indeterminat|apert|"
        r"in sospeso|non (?:precisat|specificat|chiarit)|senza risposta|da (?:chiarire|stabilire|sapere))\w*",
        r"\bnon (?:si (?:riesce a|capisce|evince|desume|deduce|ricava)|e1 dato sapere)\b|\bnon (?:ha|"
        r"hanno) (?:restituito|prodotto) (?:alcun|nessun|risultat)\w*|\bnon (?:fa|fanno) parte\b",
        r"\bnon c'?e?1? modo di (?:saper\w*|stabilir\w*|dir\w*)\b",
        r"\bdifficile (?:da )?(?:dir\w*|saper\w*|stabilir\w*)\b",
        r"\b(?:non (?:lo )?so|si ignora|lo ignoro|ignoro|nessuna idea|non saprei|boh)\b",
        r"\bfuori (?:dal|dalla|dal mio|del mio) (?:ambito|campo|contesto|portata)\b|\besula\b",
        r"\bposso (?:solo|soltanto) (?:rispondere|aiutare)\b|\bposso rispondere (?:solo|soltanto)\b",
    ),
    bare=(
        r"(?:indeterminat|imprecisat|sconosciut|introvabil|irreperibil)[oaie]|non (?:reperibil|determinabil|"
        r"pervenut|disponibil|riportat|indicat|comunicat|rilevat|determinat|presente|risulta|noto|lo so|si sa|citat|"
        r"elencat|rinvenut)\w*|(?:dato|informazione|dati) (?:non \w+|mancante|assente|indisponibile|irreperibile)|"
        r"nessun(?:a)? (?:menzione|riferimento|accenno|indicazione|notizia|corrispondenza)(?: [\w' ]{1,40})?|"
        r"senza (?:indicazioni?|dati)|impossibile (?:da )?(?:dir\w*|stabilir\w*|saper\w*|determinar\w*)",
        r"(?:nessuna (?:informazione|risposta|indicazione|idea)|nessun (?:dato|risultato)|non (?:specificat[oa]|"
        r"indicat[oa]|disponibile|menzionat[oa]|trovat[oa]|not[oa]|pervenut[oa]|precisat[oa])|sconosciut[oa]|"
        r"ignot[oa]|senza risposta|dato non disponibile)",
    ),
    quantity=(r"\bquant[oaie]\b",),
    numbers="""
        un una uno due tre quattro cinque sei sette otto nove dieci undici dodici venti cento mille mila
        milione mezzo gratis niente
    """,
    doers="autore vincitore fondatore architetto inventore proprietario traduttore",
    asked={
        r"\bquando\b": "data giorno anno mese momento orario",
        r"\bquanto (?:tempo|dura|ci mette)\b": "durata termine tempo",
        r"\bquant[oaie]\b": "prezzo costo importo numero cifra totale altezza peso vittime",
        r"\bchi\b|\bcome si chiama\b": "nome persona identita DOERS",
        r"\bvin(?:to|ta|se|ce)\b": "vincitore vincitrice",
        r"\bdov(?:e|')": "luogo indirizzo posto sede",
        r"\bperche\b": "ragione causa motivo",
        r"\bcome (?:si|posso|faccio|resetto|richiedo)\b": "passagg metodo procedura",
    },
)
