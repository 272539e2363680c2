"""The pages of the shelf through Litestar."""

import pages
from litestar import Litestar, Response, get


@get("/json")
async def message() -> dict[str, str]:
    return {"message": pages.HELLO.decode()}


@get("/bytes/{size:int}")
async def many(size: int) -> Response[bytes]:
    return Response(pages.make_bytes(size), media_type=pages.TEXT)


@get("/template")
async def template() -> Response[str]:
    return Response(pages.make_table(), media_type=pages.HTML)


@get("/")
async def hello() -> Response[bytes]:
    return Response(pages.HELLO, media_type=pages.TEXT)


app = Litestar([message, many, template, hello], openapi_config=None)
