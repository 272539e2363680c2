"""The pages of the shelf through FastAPI."""

import pages
from fastapi import FastAPI, Response

app = FastAPI()


@app.get("/json")
async def message():
    return {"message": pages.HELLO.decode()}


@app.get("/bytes/{size}")
async def many(size: int):
    return Response(pages.make_bytes(size), media_type=pages.TEXT)


@app.get("/template")
async def template():
    return Response(pages.make_table(), media_type=pages.HTML)


@app.get("/")
async def hello():
    return Response(pages.HELLO, media_type=pages.TEXT)
