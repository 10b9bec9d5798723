"""Words by which a refusal is known that no rule of the grammar reads: what they are signs of, in six languages.

That sources are limited, unreadable or not at hand, that he who answers passes, asks back or sends one elsewhere. None
of them declines by itself; how much one or two of them in a clause tell is weighed (`weights`). Folded and without
accents; "refer*" stands for all words that begin so.
"""

from collections.abc import Mapping

from evals.case.abstention.languages.romance_signs import FRENCH, ITALIAN, PORTUGUESE, SPANISH

_ENGLISH: Mapping[str, str] = {
    "only": "only just merely solely simply exclusively strictly purely alone",
    "limit": """
        end ends ended stop stops stopped break breaks broke cut cuts limit* restrict* confined extend extends reach
        reaches run runs date dates dated until till up through latest last earlier older prior predates oldest period
        skip skips jump jumps short
    """,
    "unreadable": """
        illegible unreadable smudge* blurr* blur redact* blacked masked torn faded fades crossed struck stain* cropped
        truncat* garbled corrupt* damaged blank empty obscured covered scan* ocr watermark missing unfilled
        placeholder broken unlabelled hidden scrambled cut faint burnt scribble* handwrit* pencil* overwritten washed
    """,
    "given": """
        upload* retriev* received provided given supplied attached attach* enclosed indexed loaded shared available
        hand front here disposal passed fed includ* ingested surfaced returned collection material
    """,
    "elsewhere": """
        refer refers referred referring point points pointing defer defers directs link links see annex appendix
        supplement
    """,
    "contact": """
        contact ask call ring phone email mail consult visit speak reach check helpline hotline office team department
        desk support counsellor gp doctor pharmacist lawyer adviser advisor vet professional manager colleague staff
        surgery registrar
    """,
    "differ": """
        contradict* conflict* disagree* differ* inconsistent ambigu* diverge* versions both either mixed unresolved
        disput*
    """,
    "pass": """
        decline refuse refrain rather prefer pass regret wary reluctant hesitate commit committing venture promise
        vouch stick sorry won steer avoid careful beats dunno clueless stumped owe lost idea
    """,
    "guesswork": """
        guess guess* speculat* guesswork conjecture assum* invent* infer* inference imply fabricat* crystal stab
        gamble extrapolat* educated hunch
    """,
    "perhaps": """
        perhaps maybe might may could possibl* probabl* likely presumabl* conceivabl* seem seems seemingly appear
        appears apparently suggest suggest* hint* difficult hard tricky tough certain certainty sure definite
        definitive definitively conclusive conclusively confident confidence confidently reliabl* firm
    """,
    "sorry": "sorry afraid unfortunately regrettabl* apolog* regret alas sadly wish pity",
    "assistant": """
        assistant chatbot bot ai model scope remit role task purpose designed trained tuned programmed built here
        configured responsible tool knowledge policy guideline guidelines outside topic topics domain service channel
        offer advice
    """,
    "looked": """
        look* search* check* read reading went gone go through review* examin* scan* scour* brows* comb* consulted
    """,
    "access": """
        access permission* restricted confidential locked password protected permitted allowed authoris* authoriz*
        sealed private privacy classified denied realtime live error timeout failed unreachable current entitled
        cleared authorisation authorization permissions rights profile
    """,
    "gladly": "happy glad gladly love let rephrase upload share send provide specify clarify try again further help",
    "leave": """
        leave leaves left open unanswered unsettled unresolved air hanging blank unsaid dark undecided remain remains
    """,
    "trace": """
        trace word mention hint clue sign evidence anything nothing reference syllable line nowhere anywhere none
    """,
    "which": "which whether one mean meant referring specify version depends depend after",
}

_GERMAN: Mapping[str, str] = {
    "only": "nur lediglich bloss ausschliesslich allein einzig blosse",
    "limit": """
        endet enden endete bricht brechen brach abbricht reicht reichen beschrank* begrenz* stammt stammen bis letzte*
        alter* stand zeitraum deckt abdeckt hort horen aufhort schliesst datiert umfasst umfassen springt aktuell*
        veraltet jungste* jungere* fruhere*
    """,
    "unreadable": """
        unleserlich* unlesbar* verwischt* verschwommen* verschmiert* geschwarzt* abgerissen* durchgestrichen*
        uberklebt* verdeckt* abgeschnitten* beschadigt* leer leere leeres verblasst* ausgeblichen* fleck* gescannt*
        scan* texterkennung ocr unkenntlich* ausgelassen* abgedeckt* platzhalter unvollstandig* herausgerissen*
        verstummelt* defekt* verpixelt* uberdeckt* zerstort* entfernt* gekritzel* kritzel* bleistift* schwarz*
        uberschrieben*
    """,
    "given": """
        hochgeladen* abgerufen* beigefugt* bereitgestellt* ubermittelt* vorliegend* vorliegt vorliegen liegt liegen
        mitgeliefert* angehangt* geliefert* gefunden* erhalten verfugung verfugbar* indexiert* uberlassen* ubergeben*
        hinterlegt* geladen* mitgegeben* beiliegend* beilage vorhanden* gespeichert* treffern
    """,
    "elsewhere": "verweist verweisen verwiesen verweis* siehe anhang anlage anlagen richtet bezug zusatz*",
    "contact": """
        wenden fragen frag anrufen rufen ruf kontakt* erkundigen telefon* mail hotline kundendienst kundenservice
        service amt behorde arzt arztin apotheke apotheker* anwalt anwaltin steuerberater* beratung* fachmann stelle
        abteilung ansprechpartner* sekretariat hausarzt* rechtsanwalt* rechtsberatung verwaltung zustandige*
        nachfragen besprechen hebamme kundenportal erfahren
    """,
    "differ": """
        widersprech* widerspruch* uneinig* unterschiedlich* mehrdeutig* abweich* verschieden* mehrere versionen beide
        beides strittig*
    """,
    "pass": """
        passen festlegen schuldig verzichte verzichten ablehnen enthalte ungern lieber mochte weigere darf wage wagen
        verlassen versprechen zurucknehmen uberfragt zuruckhalten keine ahnung trau traue ratlos
    """,
    "guesswork": """
        spekul* vermut* raten mutmass* kaffeesatz* spekulation* annahme* hellsehen erfinden geraten ruckschluss*
        herleit* ableit* glaskugel* schatzung* uberinterpret*
    """,
    "perhaps": """
        vielleicht moglicherweise eventuell vermutlich wahrscheinlich womoglich konnte konnten durfte scheint scheinen
        offenbar anscheinend deutet deuten spricht sprache schwer schwierig sicher sicherheit verlasslich* eindeutig*
        gesichert* belastbar* abschliessend* zuverlassig* zweifelsfrei* bestimmtheit wohl
    """,
    "sorry": "leider bedauerlicherweise bedaure bedauern entschuldig* verzeihung schade leid bedauerlich",
    "assistant": """
        assistent* chatbot bot ki modell aufgabe* zustandig* zustandigkeit* dafur trainiert entwickelt konfiguriert
        ausgelegt rolle thema themen bereich themenbereich vorgabe* richtlinie* ausserhalb sprachmodell wissensstand
        dienst chat kanal anwendung
    """,
    "looked": """
        durchsucht* durchgesehen gesucht gepruft nachgesehen gelesen durchgelesen gesichtet durchforstet recherch*
        nachgeschaut durchgegangen suche
    """,
    "access": """
        zugriff* zugang* berechtig* gesperrt* vertraulich* geschutzt* passwort kennwort freigegeben* freigabe erlaubt
        befugt datenschutz* intern* echtzeit live aktuelle fehler fehlgeschlagen einsehbar* einsehen einsicht
        verschlossen offnen berechtigung* profil rechte recht
    """,
    "gladly": """
        gern gerne helfe weiterhelfen formulieren umformulieren laden hochladen schicken versuchen nochmal erneut
        stellen mitteilen prazisieren teilen
    """,
    "leave": """
        offen bleibt bleiben lasst lassen offengelassen ungeklart* unbeantwortet* dunkel dunkeln schwebe raum
        dahingestellt unklar*
    """,
    "trace": """
        wort silbe spur spuren rede sprache erwahnung hinweis* nirgends nirgendwo zeile anhaltspunkt* nichts weder
        keinerlei vergeblich vergebens fehlanzeige fundig
    """,
    "which": """
        welche welcher welches welchen welchem ob meinen meinst gemeint denn kommt darauf abhangt brauche brauchte
        benotige
    """,
}

SIGNS: Mapping[str, Mapping[str, str]] = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
}
"""The words of each language, by its code and by what they are a sign of."""
