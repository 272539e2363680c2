"""Names that try to be more than text, for tests of whatever shows a name."""

from __future__ import annotations

MARKUP = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '"><animate onbegin=alert(1) attributeName=x dur=1s>',
    "]]><script>alert(1)</script>",
    "<!--<script>alert(1)</script>-->",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<math><mtext><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% debug %}${7*7}#{7*7}",
    "`-alert(1)-`",
    "\\u003cscript\\u003ealert(1)",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0;url=//example.org>",
    "<base href=//example.org>",
    '"/><script xlink:href="data:,alert(1)"/>',
    "x\x0b\x0c\x1b[31m\x7f\x85y",
    "line\r\nX-Injected: 1\r\n\r\nbody",
]
FORMULAS = [
    '=HYPERLINK("http://example.org")',
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "=cmd|' /C calc'!A0",
]
DIRECTION = [
    "\u202egnp.exe",
    "مرحبا بالعالم",
    "שלום \u202a\u202b\u2066 עולם",
    "\u200f\u200e\u061cx",
]
ODD = [
    "🚀🏳️‍🌈👩‍👩‍👧‍👦",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "日本語のサーバー",
    "\u2028\u2029\ufeff",
    "a" * 10_240,
    "🚀" * 2_560,
    "<b>" * 3_413,
]
HOSTILE = [*MARKUP, *FORMULAS, *DIRECTION, *ODD]
