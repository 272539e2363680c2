"""The pages of the shelf through Sanic, in one process: serve.py PORT BACKLOG."""

import sys

import pages
from sanic import Sanic
from sanic.response import json, raw

app = Sanic("pages")


@app.get("/json")
async def message(request):
    return json({"message": pages.HELLO.decode()})


@app.get("/", name="first")
@app.get("/<path:path>", name="other")
async def page(request, path=""):
    status, kind, body = pages.find_page(request.path)
    return raw(body, status=status, content_type=kind)


if __name__ == "__main__":
    app.run(
        "127.0.0.1",
        int(sys.argv[1]),
        backlog=int(sys.argv[2]),
        single_process=True,
        access_log=False,
        motd=False,
    )
