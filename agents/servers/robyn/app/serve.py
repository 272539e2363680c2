"""The pages of the shelf through Robyn; the port is in ROBYN_PORT."""

import pages
from robyn import Response, Robyn

app = Robyn(__file__)


def answer(path):
    status, kind, body = pages.find_page(path)
    return Response(status_code=status, headers={"Content-Type": kind}, description=body)


@app.get("/")
async def hello(request):
    return answer("/")


@app.get("/json")
async def message(request):
    return {"message": pages.HELLO.decode()}


@app.get("/template")
async def template(request):
    return answer("/template")


@app.get("/bytes/:size")
async def many(request):
    return answer("/bytes/" + request.path_params["size"])


app.start()
