"""German."""

from evals.text.refusals.lexicon import Language

GERMAN = Language(
    code="de",
    function="""
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bereits
        bis da dabei dafur damit danach dann daran darauf daraus darin daruber das dass dazu dein dem den denn
        der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
        einen einer eines er es etwas fur gegen genau gern hat haben habe hatte hier hierzu hin hinter ich ihm
        ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja je jede jedem jeden jeder jedes jedoch
        jene jetzt kann konnen laut leider man mehr mein mich mir mit nach neben noch nun nur ob oder ohne
        schon sehr sein seine seinem seinen seiner seit sich sie sind so sollte somit sowie tut uber um und
        uns unser unter vom von vor war waren was weil welche welchem welchen welcher welches wenn wer werden
        wie wieder wir wird wo wurde wurden zu zum zur zwar zwischen anhand allerdings daher deshalb
        vorliegenden bereitgestellten gegebenen hinsichtlich bezuglich diesbezuglich ihrerseits leid bitte
        zudem ausserdem
    """,
    words={
        "without": "ohne",
        "not": "nicht nie niemals weder nirgends nirgendwo keineswegs nirgend",
        "none": "kein keine keinen keiner keinem keines keinerlei nichts niemand null",
        "text": """
            dokument* unterlage* quelle quellen text texte texten textes textstelle* textauszug*
            textausschnitt* textpassage* kontext* auszug auszuge auszugen passage* fundstelle* ausschnitt*
        """,
        "source": """
            abschnitt* handbuch* anleitung* *bericht *berichte bericht* seite seiten datei dateien
            wissensdatenbank* wissensbasis datenbank* dokumentation* broschure* packungsbeilage*
            beipackzettel* leitfaden* inhalt* webseite* website* suchergebnis* beitrag* protokoll* buch
            brief kapitel* datenblatt* merkblatt* daten faq *ordnung *gramm *blatt *zettel *liste *plan
            *buch *protokoll *beschreibung beschreibung* etikett* interview* aufstellung ubersicht
            tabelle* rezept* skizze zusammenfassung notizen akte akten inseriat eintrag material*
            materialien artikel* prospekt* katalog* flyer biografie* abstract* *programm programm
            bescheid* *karte karte *schein anzeige* chronik* *chronik schreiben* *schreiben *mail mail
            mails *formular formular* *verzeichnis verzeichnis* *artikel *seiten *seite *dokument
            *dokumente *dokumenten *akte *heft heft *bestand *basis *bild *skript skript* *meldung
            meldung* fahrplan* speisekarte* stellenanzeige* gutachten* *gutachten *brief *auszug *notiz
            notiz* *ubersicht *anleitung *broschure *katalog *plane vorlage* kontoauszug* *zeitung
            zeitung* *nachricht nachricht* wiki* blog* *ordner ordner* suche index vorgang belege
            rechnung* *rechnung text transkript* aushang *tabelle tabellen *kapitel interview studie
            studien einladung *bedingungen bedingungen *vertrage satzung aushange hinweisblatt *regelung
            *richtlinie richtlinie* *verordnung verordnung* *statistik statistik* *unterlagen *texte
            *notizen *daten
        """,
        "contract": """
            *vertrag vertrag* police* garantie* *versicherung versicherung* gesetz* tarif* preis* gebuhr*
            satzung*
        """,
        "told": """
            angabe* information* info infos hinweis* auskunft* detail* antwort* aussage*
            einzelheit* anhaltspunkt* erwahnung* erklarung* kenntnis* einblick* naheres genaueres
            passendes bezug regelung* *angaben *informationen aufschluss nennung erlauterung*
            zugriff zugang ruckschluss ruckschlusse wort worte eintrag vermerk* spur spuren
            empfehlung* beratung* stellungnahme* anhalt grundlage zahlenangabe* *angabe *auskunft
            zeile vorhersage* prognose* beleg* *hinweis *hinweise
        """,
        "data": """
            daten zahlen zahl treffer ergebnis* eintrag* beleg* inhalt* dokument* beweis* werte grund
            nachweis*
        """,
        "say": """
            sagt sagen nennt nennen nenne erwahnt erwahnen erwahne beschreibt beschreiben beschreibe
            spezifiziert spezifizieren geht gehen behandelt behandeln thematisiert thematisieren erklart
            erklaren erlautert erlautern verrat verraten beantwortet beantworten regelt regeln
            prazisiert berichtet berichten spricht sprechen verlautet aussert aussern gibt geben
            bestatigt bestatigen informiert informieren schildert klart klaren verweist lautet aussagt
            fuhrt fuhren listet nannte nannten erwahnte erwahnten angibt angeben nennend vermerkt
            verzeichnet beziffert beziffern preisgibt verliert verlieren hergibt beantworte meldet
            melden enthullt aussagen eingeht eingehen erwahnenswert nahelegt konkretisiert prazisieren
            offenlegt festhalt vermeldet verweisen belegt reichen erfahrt erfahren liest offenbart
            offenbaren definiert definieren legt legen dokumentiert dokumentieren verzeichnen vermerken
            notiert notieren beleuchtet kommentiert kommentieren weist weisen ausweist ausweisen
            ausfuhrt schreibt schreiben erschliesst schildern vertieft hergeben festlegt benennt
            benennen ausfuhrlich rausruckt preisgeben
        """,
        "tell_of": """
            behandelt behandeln beschreibt beschreiben erwahnt erwahnen thematisiert thematisieren
            handelt handeln enthalt enthalten geht listet befasst befassen spricht verweist
            beschaftigt endet enden bricht brechen nur lediglich ausschliesslich bezieht beziehen
            stammt stammen reicht reichen betrifft betreffen nennt nennen erklart erklaren
            abgeschnitten unvollstandig beschrieben gilt gelten dreht drehen
        """,
        "hold": """
            enthalt enthalten enthielt bietet bieten liefert liefern gibt geben umfasst deckt listet fuhrt
            fuhren macht machen beinhaltet beinhalten verzeichnet weist trifft stellt
        """,
        "said": """
            genannt erwahnt angegeben aufgefuhrt beschrieben beantwortet spezifiziert erlautert vermerkt
            entnehmen entnommen dokumentiert ausgefuhrt behandelt thematisiert angesprochen erklart
            mitgeteilt ersichtlich ausgewiesen benannt prazisiert gesagt geschildert aufgelistet notiert
            festgehalten dargelegt beziffert ablesen erkennbar herauszulesen angefuhrt abgedruckt
            gelistet protokolliert zu1 nachzulesen abzulesen ablesbar zitiert verzeichnet lesbar
            abgebildet abgefragt entnehmbar nachweisbar belegt gemacht berichtet verraten konkretisiert
            beantwortbar auffindbar ermittelbar feststellbar nachvollziehbar enthalten erfasst
            ausgefullt vermeldet hervorgehoben geregelt protokolliert klar veroffentlicht mitgeliefert
            definiert festgelegt aufgeklart offengelegt zugeordnet ausgewertet aufgeschlusselt
            quantifiziert uberliefert bestatigt verzeichnen abgesichert rekonstruierbar nachgewiesen
            ermittelt aufgezeichnet genauer eingetragen angesetzt
        """,
        "held": """
            enthalten abgedeckt verfugbar gefunden aufgelistet vorhanden hinterlegt vor
            verzeichnet erfasst bekannt abrufbar auffindbar darunter dabei lesbar beigefugt
            auffindbar ersichtlich hochgeladen geladen zuganglich indexiert vorliegend
        """,
        "find": """
            finden gefunden beantworten antworten sagen bestimmen ermitteln feststellen entnehmen wissen
            weiss kenne ableiten herausfinden nennen angeben beurteilen bestatigen erkennen finde sehe
            schliessen geben klaren entscheiden bestimmt ermittelt beantwortet festgestellt abgeleitet
            herleiten lokalisieren machen identifizieren verifizieren prufen sehen erteilen ausfindig
            mitteilen belegen ablesen gesagt entdecken entdeckt ersehen folgern nachvollziehen
            rekonstruieren beziffern berechnen berechnet ausrechnen vergleichen verglichen
            herausgefunden recherchieren abrufen abgerufen nachsehen nachlesen benennen ausmachen
            treffen beziffert lesen entziffern angegeben aufspuren bewerten einschatzen abschatzen
            weitergeben empfehlen vorhersagen zusammenfassen auflisten bereitstellen erklaren erlautern
            darlegen nachreichen rausfinden bejahen verneinen ausschliessen behaupten bewilligen
            freigeben bearbeiten deuten interpretieren zuordnen umrechnen
        """,
        "help": "helfen weiterhelfen spekulieren unterstutzen raten dienen anbieten beitragen mutmassen behilflich",
        "have": "habe haben verfuge besitze verfugen",
        "have_myself": "verfuge",
        "me": "ich mir mich mochte",
        "us": "wir uns",
        "can": "kann konnen konnte konnten moglich lage lasst lassen",
        "unable": "unmoglich ausserstande",
        "unknown": "unbekannt unklar ungewiss unbeantwortet offen unzureichend ungeklart unbestimmt",
        "sure": "sicher bekannt klar gewiss uberliefert geklart",
        "there": "es liegt liegen existiert existieren finden findet gibt vorliegen",
        "question": "frage fragen anfrage* suchanfrage* suche",
        "who": """
            wer was wann wo wie warum weshalb wieso ob welche welcher welches welchen wessen wem
            wen woher wohin womit weswegen wozu wodurch worin
        """,
        "it": "es das dies dieses diese dazu daruber hierzu davon darauf",
        "be": "bin bist ist sind war waren wird werden wurde wurden sein sich man bleibt bleiben",
        "lack": """
            fehlt fehlen schweigt schweigen ausgespart verschweigt verschweigen tacet stumm
            schuldig fehlte fehlten vergeblich luckenhaft unvollstandig mangelt mangels vermisse
        """,
        "appear": """
            steht stehen hervor hervorgeht ergibt ergeben taucht tauchen vorkommt kommt auftaucht kommen
            vorkommen auftauchen erscheint erscheinen findet finden
        """,
        "unsaid": """
            unerwahnt unspezifiziert ungenannt unbenannt unbeziffert undatiert ungesagt
            unbeantwortet offengelassen
        """,
        "defined": "definiert",
        "more": """
            mehr weiter weitere weiteren weiterer weiteres naher nahere naheren genau genaue genauer
            genauen exakt* prazise* ausdrucklich* explizit* sonst sonstige anderes daruberhinaus
            vollstandig* direkt unmittelbar bestatigen
        """,
        "enough": "genug genugend ausreichend* hinreichend* passend* relevant* einschlagig* entsprechend*",
        "this": "dies dieses dazu daran davon",
        "my": "mein* unser*",
        "outside": "ausserhalb jenseits ubersteigt",
        "from": "in im aus dem den der von laut anhand nach unter darunter",
        "that": "dass",
        "part": "teil bestandteil gegenstand thema",
        "about": "uber zu zur zum hinsichtlich bezuglich darauf",
    },
    rules=(
        "m~6 k~3 s~6 f",
        "Q~8 e~7 n",
        "^ w~9 , t~6 n",
        "e~6 s~2 n",
        "Q~2 l",
        "i~9 n",
        "i~6 k~2 a",
        "f~4 i~7 nk",
        "j~3 k~1 eg",
        "v~1 n~5 s",
        "v~3 s~3 n",
        "v~3 k",
        "v~6 s~3 k",
        "^ v~2 n $",
        "v~6 n g",
        "t~2 s~3 nk",
        "t b~6 nk",
        "s~3 t~8 n",
        "s~12 t~2 n",
        "s~12 ,~2 t~2 n",
        "t~1 n~4 s",
        "^ .P~2 _~3 t~2 n",
        "t .P~1 _~1 k",
        "s~7 k~3 a",
        "s~5 th~3 k",
        "^ .P~2 _~3 h~3 k~1 a",
        "e~9 k~2 aA",
        "k~4 aA~5 fgp",
        "m~2 k~3 fpg b",
        "m b~9 n~1 fp",
        "m~9 n~2 fp~1 b",
        "s~9 m~9 n~1 f",
        "n~1 m ,~12 f",
        "b~1 u~2 f",
        "b~6 k~1 p",
        "b~9 n~1 p",
        "b~9 n~1 .~1 fp $",
        "^ d~1 t~2 n",
        "s~6 n~2 g",
        "n~2 g~4 s",
    ),
    but=(r"sondern",),
    however=(r"aber|jedoch|doch|allerdings|hingegen|dagegen|wahrend",),
    hence=(r"also|daher|deshalb|somit|sodass|weshalb",),
    although=(r"obwohl|obgleich|wenngleich|auch wenn|zwar|wahrend|selbst wenn",),
    relative=(r"der|die|das|den|dem|denen|deren|wie|welche[rsn]?",),
    openers=(
        r"\W*(?:daher|deshalb|somit|folglich|ausserdem|allerdings|jedoch|leider|bedauerlicherweise|"
        r"entschuldigung|tut mir leid|es tut mir leid|sorry|verzeihung|also|hallo|tja|nun)\b[\s,.:!–-]*(?:aber |"
        r"dass )?",
        r"(?:basierend auf|auf (?:der )?basis|auf grundlage|laut|gemass|gemaß|nach|anhand|"
        r"in) [^,]{0,60}\b(?:kontext\w*|dokument\w*|quellen?|text\w*|unterlagen|informationen|passagen|auszug\w*|"
        r"ausz[uu]gen?|abschnitt\w*)\b[^,]{0,40}, ?",
    ),
    referrals=(
        r"\b(?:kundendienst|kundenservice|abteilung|hotline|support|ansprechpartner\w*|sachbearbeiter\w*|"
        r"sekretariat|amt|behorde|geschaftsstelle|fachanwalt|arzt|arztin|apotheke|verwaltung|stelle|"
        r"team)\b.{0,80}\b(?:kann|konnen|konnte|hilft|helfen|weiter|wird|da|zustandig|erreich\w*)\b|\b(?:sie|du|"
        r"ihnen|euch|dir) (?:konnen|konnten|kannst|sagen|helfen|weiterhelfen)\b|\bfragen sie\b|\bfalls sie\b|"
        r"\bwenn sie (?:mir|mochten|wollen)\b|\b(?:rufen|schauen|sehen|prufen|sprechen|lesen|laden) sie\b",
    ),
    courtesy=(
        r"^schon, dass\b",
        r"^(?:guten tag|hallo|ich verstehe|verstehe|schone frage|gute frage|das ist eine (?:gute|interessante))\b",
        r"\b(?:bitte|gerne?|wenden sie sich|kontaktieren|danke|vielen dank|entschuldig\w*|tut mir leid|empfehle|"
        r"am besten|hilft ihnen|weiterhelfen|versuchen sie|hoffe|sie konnten|sie konnten|"
        r"ich habe .{0,60}(?:durchsucht|gepruft|durchgesehen))\b",
    ),
    guesses=(
        r"\b(?:vermutlich|wahrscheinlich|vermute|schatzungsweise|ungefahr|etwa|deutet|lasst vermuten|scheint|"
        r"anscheinend|offenbar|wohl|durfte|nehme an|schliessen lasst|legt nahe|legen nahe|in der regel|"
        r"normalerweise)\b",
    ),
    maybe=(
        r"\b(?:anderswo|an anderer stelle|in einem anderen|anderen dokument\w*|moglicherweise|vielleicht|"
        r"eventuell|unter umstanden)\b|^es (?:kann|konnte) sein\b|^es ist moglich, dass\b|^(?:das|es) (?:mag|"
        r"kann|konnte) (?:so |gut )?sein\b|^(?:das|es) ist moglich$",
    ),
    reports=(
        r"\b(?:raumt|raumen|gibt zu|geben zu|betont|betonen|erklart, dass|teilte|bemangel\w*|sagte|sagten|"
        r"sagt,? dass|erklarte|schrieb|behauptet\w*|wenn|falls|sobald|weil|muss|mussen|soll|sollen|kunden?|"
        r"nutzer|mitarbeiter|er|bedeutet)\b",
    ),
    reasons=(r"da|weil|nachdem",),
    apart=(
        r"ohne (?:[^,.;]{1,50} )?(?:zu nennen|anzugeben|zu erwahnen|zu sagen|zu erklaren|zu beschreiben|"
        r"zu beziffern|einzugehen|zu prazisieren|mitzuteilen)|nicht (?:aber|jedoch)|nur (?:eben )?nicht",
    ),
    conditions=(r"wenn|falls|sofern|wird|werden",),
    because=(r"weil|da(?! (?:nicht|leider|kein)|$)|denn",),
    hints="""
        schwer passen uberfragt entzieht nur lediglich ausschliesslich musste brauchte benotigte brauche
        benotige brauchten ware vergebens fehlanzeige verschwiegen dunkeln unklaren ungewissen offen
        unerwahnt unklar aus verfehlt brechen bricht enden endet horen hort
    """,
    declines=(
        r"\b(?:mir|ich|meine\w*)\b.{0,40}\b(?:brechen|bricht|enden|endet|horen|hort)\b.{0,6}(?:ab|auf|vor|mit|bei|"
        r"im)?\b",
        r"\bnicht (?:bis )?in (?:den|das|die) \w+ geschafft\b",
        r"\bim (?:dunkeln|unklaren|ungewissen)\b|\b(?:wurde|wurden|ist|sind) (?:mir )?nicht (?:hochgeladen|"
        r"bereitgestellt|ubermittelt|mitgeliefert|indexiert)\b",
        r"\b(?:mir|uns) lieg(?:t|en) (?:hier |leider |aber |jedoch )*(?:nur|lediglich|ausschliesslich|kein\w*|"
        r"nicht\w*)\b|\bich (?:kenne|habe|sehe) (?:hier |leider )*(?:nur|lediglich|ausschliesslich)\b",
        r"\b(?:musste|brauchte|benotigte|brauchten|brauche|benotige|ware)\b.{0,60}\b(?:ich|man|wir|notig|"
        r"erforderlich)\b.{0,80}",
        r"\b(?:darf|kann|mochte|werde) ich\b.{0,80}\b(?:kein\w*|nicht)\b|\bich (?:darf|kann|mochte|werde|"
        r"bin)\b.{0,80}\b(?:kein\w*|nicht)\b",
        r"\b(?:suche|suchte|sucht|suchen)\b.{0,80}\bvergeb(?:lich|ens)\b|\bvergeb(?:lich|ens) gesucht\b|"
        r"\bfehlanzeige\b|\bbleibt\b.{0,60}\bschuldig\b|\b(?:wird|werden) verschwiegen\b",
        r"\bkein(?:e|en|er|es|em)? (?:einzige[nrsm]? )?(?:wort|rede|silbe|spur|hinweis\w*|erwahnung|aussage|"
        r"angabe\w*|auskunft|aufschluss|treffer)\b",
        r"\b(?:aussage|antwort|beantwortung|auskunft|angabe|berechnung|vergleich|beurteilung|einschatzung|"
        r"bewertung)\b.{0,60}\b(?:nicht|un)(?: ?moglich| zu| machbar)\b",
        r"\b(?:gehort|gehoren|fallt|fallen|liegt|liegen)\b.{0,60}\b(?:nicht (?:zu|in|unter)|ausserhalb)\b",
        r"\blass(?:t|en) sich\b.{0,120}\b(?:nicht|kein\w*)\b|\bnicht zu (?:entnehmen|ermitteln|erkennen|finden|"
        r"bestimmen|sagen|beantworten|klaren|ersehen|entziffern|erfahren|lesen)\b",
        r"\bkeine rede\b|\b(?:nirgends|nirgendwo|nicht|nie|kaum)\b.{0,20}\brede\b",
        r"\b(?:lass(?:t|en)|liess(?:en)?|halt|halten)\b.{0,60}\b(?:offen|unerwahnt|unklar|unbeantwortet|aussen vor)\b",
        r"\breich(?:t|en)\b.{0,60}\bnicht\b",
        r"\bschwer zu (?:sagen|beurteilen|beantworten)\b",
        r"\b(?:keine ahnung|weiss nicht|weiß nicht|(?:da|hier|dabei|damit)\b.{0,20}\b(?:passen|uberfragt))\b",
        r"\b(?:ausserhalb|außerhalb) (?:meines|des|der|meiner)\b.{0,30}\b(?:bereichs?|wissens|themas|"
        r"zustandigkeit|dokumente)\b",
        r"\b(?:lasst|lassen) (?:es |das |dies )?(?:offen|unerwahnt|unklar|aus)\b",
        r"\bentzieht sich meiner kenntnis\b",
        r"\bkann (?:ich )?nur\b.{0,60}\b(?:beantworten|helfen)\b",
    ),
    bare=(
        r"nicht zu (?:ermitteln|bestimmen|beantworten|finden|entnehmen|klaren)|un(?:be(?:antwortbar|stimmt|stimmbar|"
        r"kannt|antwortet)|klar|gewiss|geklart|auffindbar)|nicht (?:auffindbar|ermittelbar|feststellbar|vorhanden|"
        r"hinterlegt|bestimmbar|dokumentiert|aufgefuhrt|ersichtlich|vermerkt|klar)|keine? (?:aussage|nennung|"
        r"erwahnung|hinweise?|auskunft|passende \w+|fundstelle)(?: [\w ]{1,40})?|weiss (?:ich )?nicht|fehlanzeige|"
        r"ohne angabe",
        r"(?:keine (?:angaben?|antwort|information(?:en)?|ahnung|daten|treffer|ergebnisse)|nicht (?:bekannt|"
        r"angegeben|genannt|gefunden|beantwortbar|verfugbar|spezifiziert|erwahnt)|unbekannt|unklar|k\.? ?a\.?)",
    ),
    quantity=(
        r"\bwie ?viele?n?\b",
        r"\bwie (?:hoch|teuer|alt|gross|schwer) (?:ist|war|sind|waren)\b",
        r"\bwas (?:kostet|kosten|verdient)\b",
    ),
    numbers="""
        ein eine einen zwei drei vier funf sechs sieben acht neun zehn elf zwolf dutzend hundert tausend
        million halb kostenlos gratis nichts
    """,
    doers="""
        sieger gewinner autor verfasser grunder architekt erbauer komponist erfinder besitzer
        eigentumer leiter urheber nachfolger
    """,
    asked={
        r"\bwann\b": "datum tag jahr zeit termin monat fahrplan frist",
        r"\bwie lange\b": "dauer zeit frist lange",
        r"\bwie ?(?:viel|viele|hoch|teuer)\b|\bwas kostet\b": (
            "preis kosten betrag gebuhr anzahl zahl hohe summe gewicht lange"
        ),
        r"\bwie (?:gross|alt|schnell|weit|tief|schwer|lang|breit|oft)\b": (
            "grosse alter geschwindigkeit entfernung tiefe gewicht lange breite haufigkeit"
        ),
        r"\bwe(?:r|m|n|ssen)\b|\bwie heisst\b": "name person identitat DOERS",
        r"\bgewann|\bgewinn": "sieger gewinner",
        r"\bwo\b|\bwohin\b": "ort adresse lage standort stelle",
        r"\bwarum\b|\bwieso\b|\bweshalb\b": "grund grunde ursache erklarung motiv",
        r"\bwie (?:kann|setz|wird|mach|beantrag|geh)": "schritte anleitung vorgehen verfahren",
    },
)
