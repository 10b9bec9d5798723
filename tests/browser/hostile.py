"""Texts that do harm where they are taken for anything but text."""

SIGN = "window.harmed = true"
"""What each of them would do."""
TEXTS = {
    "script": f"<script>{SIGN}</script>",
    "closing": f"</script></textarea></style></title>--><script>{SIGN}</script><!--",
    "image": f"<img src=x onerror='{SIGN}'>",
    "svg": f"<svg onload='{SIGN}'><animate onbegin='{SIGN}' attributeName=x dur=1s></svg>",
    "frame": f"<iframe srcdoc='<script>parent.{SIGN}</script>'></iframe>",
    "link": f"[here](javascript:{SIGN}) <a href='javascript:{SIGN}'>here</a> javascript:{SIGN}",
    "data": f"data:text/html,<script>{SIGN}</script> <object data='data:text/html,x'></object>",
    "style": "<style>*{display:none}</style><link rel=stylesheet href=https://127.0.0.1:1/x.css>",
    "meta": "<meta http-equiv=refresh content='0;url=https://127.0.0.1:1/'><base href=https://127.0.0.1:1/>",
    "form": "<form action=https://127.0.0.1:1/><input autofocus onfocus='window.harmed = true'></form>",
    "template": "{{constructor.constructor('window.harmed=true')()}} ${window.harmed = true} <%= 1 %>",
    "comment": "<!-- <!--> --!> ]]> <![CDATA[ x",
    "bidi": "report \u202egnp.exe\u202c \u2066isolated\u2069 \u200fright \u061cmark",
    "control": "null \x00 bell \x07 escape \x1b[31mred\x1b[0m separator \u2028 \u2029 \ufeff",
    "marks": "Z" + "\u0301\u0316" * 5000,
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 200,
    "prototype": "__proto__",
    "line": "x" * 1_000_000,
    "words": "word " * 20_000,
    "lines": "\n" * 20_000 + "end",
}
