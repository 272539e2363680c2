"""The pages of the shelf through Flask, with its own JSON and its own templates."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from flask import Flask, Response, jsonify, render_template_string

import pages

app = Flask(__name__)
TABLE = (
    "<!DOCTYPE html><title>Rows</title><table>{% for row in rows %}"
    "<tr><td>{{ loop.index0 }}</td><td>{{ row }}</td></tr>{% endfor %}</table>"
)


@app.route("/")
def hello():
    return Response(pages.HELLO, mimetype="text/plain")


@app.route("/json")
def message():
    return jsonify(message=pages.HELLO.decode("ascii"))


@app.route("/template")
def template():
    return render_template_string(TABLE, rows=pages.ROWS)


@app.route("/bytes/<int:size>")
def many(size):
    return Response(pages.make_bytes(size), mimetype="text/plain")


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=True)
