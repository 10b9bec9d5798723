"""Spanish."""

from evals.case.abstention.languages.base import Language
from evals.case.abstention.languages.romance import ROMANCE

SPANISH = Language(
    code="es",
    function="""
        a ademas ahi al algo algun alguna algunas algunos alla ante antes aqui aquel asi aun aunque bajo bien
        cada como con contra cual cuales cuando de del desde despues donde durante e el ella ellas ellos en
        entre era es esa esas ese eso esos esta estaba estan estar estas este esto estos fue fueron ha hacia
        haber han hasta hay he la las le les lo los lamento lamentablemente mas me mi mis mientras mucho muy
        nada ni nos nosotros o os otra otras otro otros para pero poco por porque pues que quien quienes se
        sea segun ser si sido sin sino siento sobre solo son su sus suya tal tambien tan tanto te tiene tienen
        toda todas todo todos tu tus un una unas uno unos usted ustedes y ya yo embargo disponibles disponible
        facilitados proporcionados proporcionada proporcionado respecto acerca partir cuanto
    """,
    words={
        "not": "no ni nunca jamas tampoco",
        "none": "ningun ninguna ninguno nada nadie sin",
        "text": """
            documento documentos documentacion texto textos contexto contextos fuente fuentes fragmento
            fragmentos extracto extractos
        """,
        "source": """
            manual manuales informe informes pagina paginas archivo* guia guias prospecto* folleto* base
            bases seccion secciones capitulo* contenido* libro libros carta datos informacion sitio web
            corpus ficha* aqui conocimientos reglamento organigrama cronica descripcion etiqueta
            entrevista tabla acta actas resumen lista nota notas anuncio relato expediente articulo
            articulos material materiales pasaje pasajes biografia
        """,
        "contract": "contrato* poliza* garantia* seguro* ley leyes tarifa* precio* plan",
        "told": """
            informacion informaciones info dato datos detalle detalles mencion menciones referencia
            referencias indicacion indicaciones respuesta respuestas explicacion explicaciones pista*
            constancia alusion* indicio* aclaracion acceso conclusion
        """,
        "data": "datos cifra cifras resultado* coincidencia* registro* evidencia* contenido* documento* numero",
        "say": """
            dice dicen diga digan indic* menc* especific* precis* explic* abord* trat* mencion* refier*
            describ* permite permiten permita permitan respond* senal* detall* habl* alud* cit* aclar*
            revel* nombr* expres* hace hacen confirm* estipul* inform* pronunci* contempl* preve preven
        """,
        "tell_of": """
            trata tratan describe describen menciona mencionan habla hablan aborda abordan contiene
            contienen incluye incluyen cita citan
        """,
        "hold": "contien* conteng* incluy* ofrec* proporcion* da dan facilit* aport* brind* recog* anad* cubr*",
        "said": """
            mencionad* indicad* especificad* precisad* explicad* descrit* detallad* abordad* tratad*
            deducirse determinarse saberse establecerse inferirse responderse conocerse extraerse senalad*
            documentad* recogid* referid* registrad* nombrad* aclarad*
        """,
        "held": """
            encontraron incluid* disponible* contenid* encontrado encontrada encontrados encontradas
            hallad* proporcionad*
        """,
        "find": """
            encontrar encontrado encontrada encontrados encontro encuentro encontre encuentra encuentran
            responder contestar determinar saber se1 decir identificar confirmar deducir establecer
            localizar hallar hallado averiguar conocer dar ofrecer proporcionar verificar precisar ver
            inferir extraer podido localizado facilitar informar indicar asegurar concretar
        """,
        "find_myself": "encuentro encontre se1 veo encontramos sabemos localizo conozco sabria",
        "help": """
            ayudar ayudarte ayudarle ayudarles asistir especular adivinar suponer asistirle informarle
            informarte orientar
        """,
        "have": "he hemos tengo tenemos dispongo disponemos",
        "have_myself": "tengo dispongo tenemos disponemos cuento contamos poseo",
        "me": "yo puedo pude he soy estoy me consigo logro logre prefiero",
        "us": "podemos hemos nosotros",
        "can": "puede pueden posible pudo capaz podido podria puedo podemos condiciones",
        "unable": "imposible incapaz",
        "unknown": "desconocido desconocida desconocidos incierto incierta insuficiente insuficientes",
        "sure": "claro clara seguro segura conocido conocida sabe conoce cierto",
        "there": "hay existe existen habia",
        "question": "pregunta preguntas consulta consultas solicitud peticion busqueda",
        "who": "quien quienes que cual cuales cuando donde como cuanto cuantos si",
        "it": "lo eso esto ello ese esa",
        "be": "es son fue ser esta1 estan se sido parece parecen queda resulta viene",
        "lack": "falta faltan carece carecen ausente silencio omite omiten calla",
        "appear": "aparece aparecen aparezca consta constan figura figuran viene vienen",
        "defined": "definid*",
        "more": """
            mas otro otra otros otras exacto exacta exactamente expresamente explicitamente preciso
            precisa adicional adicionales completo completa oficial demas ulteriores tal
        """,
        "enough": "suficiente* relevante* pertinente* bastante",
        "this": "esto eso ello",
        "my": "mi mis nuestro nuestra nuestros nuestras",
        "outside": "fuera excede",
        "from": "en de del segun por a",
        "that": "que",
        "part": "parte",
        "about": "sobre acerca respecto",
    },
    rules=(
        *ROMANCE,
        "n~2 b~1 f",  # no se encuentra
    ),
    unknowns=(
        "b~1 n~1 X",
        "n~1 b~1 X",
    ),
    but=(r"pero|sino",),
    however=(r"sin embargo|no obstante|en cambio",),
    hence=(r"asi que|por lo que|por tanto|por eso",),
    although=(r"aunque|si bien|a pesar de que|aun cuando|mientras que",),
    relative=(r"que|quien|quienes",),
    openers=(
        r"\W*(?:por lo tanto|por tanto|sin embargo|ademas|asi pues|no obstante|lamentablemente|"
        r"desafortunadamente|por desgracia|lo siento|lo siento mucho|lo lamento|disculpe|disculpa|"
        r"perdon)\b[\s,.:!–-]*(?:pero |que )?",
        r"(?:segun|de acuerdo con|con base en|basandome en|a partir de|en) [^,]{0,60}\b(?:contexto|documentos?|"
        r"fuentes?|textos?|informacion|pasajes?|fragmentos?|extractos?)\b[^,]{0,40}, ?",
    ),
    courtesy=(
        r"\b(?:por favor|pongase|pongase|gracias|contacte|consulte|le (?:recomiendo|sugiero|aconsejo|invito)|"
        r"te (?:recomiendo|sugiero)|puedo (?:ayudar\w*)|intente|intenta|no dude|sugiero|recomiendo|"
        r"puede (?:consultar|contactar|probar|preguntar)|lo siento|disculp\w*|he (?:buscado|revisado|"
        r"consultado))\b",
    ),
    guesses=(
        r"\b(?:probablemente|seguramente|posiblemente|aparentemente|parece|pareceria|al parecer|sugiere\w*|"
        r"aproximadamente|unos|cabe suponer|se puede inferir|se deduce|supongo|creo|deberia|suele|en general|"
        r"generalmente)\b",
    ),
    maybe=(r"\b(?:quizas?|puede que|tal vez|es posible que|en otr[oa]s?|a lo mejor)\b|^es posible$",),
    reports=(
        r"\b(?:si|admit\w*|reconoc\w*|critic\w*|dijo|dijeron|declaro|afirm\w*|escribio|si usted|si no|cuando|"
        r"porque|debe|deben|hay que|clientes?|usuarios?|significa|respondio)\b",
    ),
    declines=(
        r"\bno (?:deja|dejan|queda) (?:muy )?claro\b",
        r"\bdificil (?:de )?(?:decir\w*|saber\w*|determinar\w*)\b",
        r"\b(?:carezco|carecemos|se desconoce|desconozco|desconocemos|lo ignoro|ignoro|se ignora|ni idea|"
        r"no lo se|no sabria|no se (?:si|quien|que|cual|donde|como|cuando|cuanto))\b",
        r"\bguarda(?:n)? silencio\b",
        r"\bfuera (?:de mi|del) (?:alcance|ambito|conocimiento|contexto)\b",
        r"\bsolo puedo (?:responder|ayudar)\b|\bsolo puedo (?:responder|ayudar)\b",
    ),
    bare=(
        r"(?:sin (?:informacion|respuesta|datos|especificar|resultados)|no (?:especificad[oa]s?|indicad[oa]s?|"
        r"disponible|mencionad[oa]s?|encontrad[oa]s?|consta|se sabe|se menciona|se especifica|se indica|"
        r"conocid[oa]s?)|desconocid[oa]s?|ninguna informaci[oo]n|ningun dato|ningun dato)",
    ),
    quantity=(r"\bcuant[oa]s?\b",),
    numbers="""
        un una uno dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien mil millon medio
        gratis nada
    """,
    asked={
        r"\bcuando\b": "fecha dia ano mes momento horario",
        r"\bcuanto (?:tiempo|dura|tarda)\b": "duracion plazo tiempo",
        r"\bcuant[oa]s?\b": "precio coste costo importe numero cifra total cantidad",
        r"\bquien\b|\bcomo se llama\b": "nombre persona identidad",
        r"\bdonde\b": "lugar direccion sitio ubicacion",
        r"\bpor que\b": "razon causa motivo",
        r"\bcomo (?:se|puedo|hago|reinicio|solicito)\b": "paso metodo procedimiento",
    },
)
