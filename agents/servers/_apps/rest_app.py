"""The application of the study of 2016: a template, and an API that writes to PostgreSQL.

GET /table     a page by Jinja2
GET /api       inserts a row and reads it again, as JSON; DATABASE names the database
"""

import os
import sys
from contextlib import contextmanager

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import psycopg
except ImportError:
    import psycopg2 as psycopg  # the one of Python 2
from flask import Flask, Response, jsonify, render_template_string

import pages

app = Flask(__name__)
idle = []
TABLE = (
    "<!DOCTYPE html><title>Rows</title><table>{% for row in rows %}"
    "<tr><td>{{ loop.index0 }}</td><td>{{ row }}</td></tr>{% endfor %}</table>"
)


def connect():
    connection = psycopg.connect(os.environ["DATABASE"])
    connection.autocommit = True
    return connection


@contextmanager
def borrowed():
    """A connection of this process that no other request uses.

    A connection for each thread or greenlet would be one for each request on servers that make
    them by the request, and opening it takes longer than the request.
    """
    try:
        connection = idle.pop()
    except IndexError:
        connection = connect()
    yield connection
    idle.append(connection)


@app.route("/table")
def template():
    return Response(render_template_string(TABLE, rows=pages.ROWS), mimetype="text/html")


@app.route("/api")
def api():
    with borrowed() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO items (name) VALUES (%s) RETURNING id", ("item",))
        (number,) = cursor.fetchone()
        cursor.execute("SELECT id, name FROM items WHERE id = %s", (number,))
        _, name = cursor.fetchone()
    return jsonify(name=name)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=True)
