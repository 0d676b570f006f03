"""A site in Flask: routes below the guarded names, behind a recipe for prefixes that many apps carry."""

import logging
import os

from flask import Flask, Response

WORDS = os.environ["SITE_WORDS"]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]

# Only the line with the address is wanted, not one for each request.
logging.getLogger("werkzeug").addFilter(lambda record: "HTTP/" not in record.getMessage())

app = Flask(__name__, static_folder=None)


class Prefixed:
    """The recipe: a proxy may name the prefix under which the app is mounted."""

    def __init__(self, wsgi):
        self.wsgi = wsgi

    def __call__(self, environ, start_response):
        prefix = environ.get("HTTP_X_SCRIPT_NAME", "")
        if prefix and environ["PATH_INFO"].startswith(prefix):
            environ["SCRIPT_NAME"] = prefix
            environ["PATH_INFO"] = environ["PATH_INFO"][len(prefix) :]
        return self.wsgi(environ, start_response)


app.wsgi_app = Prefixed(app.wsgi_app)


def guarded(rest=""):
    return Response(WORDS, headers={"x-guarded": "yes"})


for name in ["tickets", "café", "my tickets"]:
    app.add_url_rule(f"/{name}", name, guarded, methods=METHODS)
    app.add_url_rule(f"/{name}/<path:rest>", f"{name} below", guarded, methods=METHODS)
    app.add_url_rule(f"/{name}/", f"{name} folder", guarded, methods=METHODS)


@app.route("/", methods=METHODS)
@app.route("/<path:rest>", methods=METHODS)
def other(rest=""):
    first = rest.strip("/ ").split("/")[0].lower()
    return guarded() if first in ["tickets", "café", "my tickets"] else "open"
