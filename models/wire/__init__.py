"""What goes over the wire: a request as the body of an API, a reply of one as an answer.

- ``questions``  a request as the journal knows it: its key, its parts, its settings; and the body made of them
- ``messages``   the Messages API (``wire = "messages"``)
- ``chat``       chat completions (``wire = "chat"``)
- ``content``    what both wires read out of a reply
- ``answers``    the answer in it, checked: the one reader of what models write
- ``schemas``    a JSON Schema as servers enforce it, and in words
- ``client``     one attempt over HTTP; ``problems``: what it can come to; ``stream``: replies that come in pieces
"""

from models.wire.answers import json_in

__all__ = ["json_in"]
