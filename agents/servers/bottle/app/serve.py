"""The pages of the shelf through Bottle."""

import bottle
import pages

app = bottle.Bottle()


@app.get("/json")
def message():
    return {"message": pages.HELLO.decode()}


@app.get("/")
@app.get("/<path:path>")
def page(path=""):
    status, kind, body = pages.find_page("/" + path)
    return bottle.HTTPResponse(body, status=status, headers={"Content-Type": kind})
