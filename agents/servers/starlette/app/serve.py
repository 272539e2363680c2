"""The pages of the shelf through Starlette."""

import pages
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def page(request):
    status, kind, body = pages.find_page(request.url.path)
    return Response(body, status_code=status, media_type=kind)


async def message(request):
    return JSONResponse({"message": pages.HELLO.decode()})


app = Starlette(routes=[Route("/json", message), Route("/{path:path}", page)])
