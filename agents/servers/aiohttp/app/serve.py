"""The pages of the shelf through aiohttp: serve.py PORT BACKLOG."""

import sys

import pages
from aiohttp import web


async def answer(request):
    await request.read()
    status, kind, body = pages.find_page(request.path)
    return web.Response(status=status, body=body, headers={"Content-Type": kind})


async def message(request):
    return web.json_response({"message": pages.HELLO.decode()})


app = web.Application()
app.router.add_get("/json", message)
app.router.add_get("/{path:.*}", answer)
web.run_app(
    app,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    backlog=int(sys.argv[2]),
    access_log=None,
    print=None,
)
