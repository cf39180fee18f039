"""TF-IDF weights, equal to scikit-learn's default ones and several times faster to make.

``TfidfVectorizer`` spends nine tenths of its time in a regular expression and a Python dictionary.
Here texts become bytes, words become runs of bytes found by array operations, and Arrow numbers
them; the definition stays scikit-learn's (lower case, ``(?u)\\b\\w\\w+\\b``, counts, smooth idf, unit
length), for every Unicode text. What near-duplicates (HEART-BENCH appendix B.4) are measured with.

    python -c "from audits.duplicates.tfidf import weights; print(weights(['one good day', 'one bad day']).toarray())"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

_CHUNK = 1 << 20  # characters that are cut into words at a time: their arrays stay in the cache

# Upper case to lower case, what no word contains to 0; bytes above 127 stay until their character is known.
_FOLDED = bytes(b if b > 127 else ord(chr(b).lower()) if chr(b).isalnum() or chr(b) == "_" else 0 for b in range(256))

Item = TypeVar("Item")
Made = TypeVar("Made")


def weights(texts: Sequence[str], workers: int = 1) -> csc_matrix:
    """``TfidfVectorizer().fit_transform(texts)`` up to the order of columns and the last bits.

    Shape (texts, terms), float64, rows of length 1; a text without words is a row of zeros, and texts
    without any word make a matrix without columns (scikit-learn raises there).
    """
    from scipy.sparse import csc_matrix

    rows, counts, starts, _ = counted(texts, workers)
    found = np.diff(starts)
    idf = inverse_frequency(len(texts), found)
    values = counts.astype(np.float64) * np.repeat(idf, found)
    lengths = np.sqrt(np.bincount(rows, values * values, minlength=len(texts)))
    lengths[lengths == 0] = 1
    values /= lengths[rows]
    return csc_matrix((values, rows, starts), shape=(len(texts), len(found)))


def inverse_frequency(texts: int, found: Places) -> npt.NDArray[np.float64]:
    """The smooth idf of terms that ``found`` of so many texts have."""
    made: npt.NDArray[np.float64] = np.log((1 + texts) / (1 + found)) + 1
    return made


def spread(task: Callable[[Item], Made], items: Iterable[Item], workers: int) -> Iterator[Made]:
    """``map`` over ``workers`` threads; results in order. The array operations run outside the interpreter lock."""
    if workers <= 1:
        yield from map(task, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(task, items)


def counted(texts: Sequence[str], workers: int = 1) -> tuple[Places, Places, Places, Any]:
    """How often which text has which term, ordered by term, then text: text numbers, counts, term starts, terms."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from scipy.sparse import csr_matrix

    cut = list(spread(_words, _chunks(texts), workers))
    words = pa.chunked_array([chunk for chunk, _ in cut], pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
    if not len(words):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64), pa.array([], pa.string())
    terms = words.chunk(0).dictionary
    numbers = np.concatenate([np.from_dlpack(chunk.indices) for chunk in words.chunks])  # to_numpy imports pandas
    per_text = np.concatenate([sizes for _, sizes in cut])
    by_text = csr_matrix(
        (np.ones(len(numbers), np.int8), numbers, _starts(per_text)), shape=(len(texts), len(terms))
    ).tocsc()  # a counting sort by term that keeps the order of texts
    rows, starts = by_text.indices, by_text.indptr
    first = np.empty(len(rows), bool)
    first[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    first[starts[:-1]] = True
    places = np.flatnonzero(first)
    counts = np.diff(places, append=len(rows))
    starts, rows = np.searchsorted(places, starts), rows[places]
    long = np.from_dlpack(pc.utf8_length(terms)) > 1  # terms of a single character do not count, as in ``\\w\\w+``
    if long.all():
        return rows, counts, starts, terms
    found = np.diff(starts)
    entries = np.repeat(long, found)
    return rows[entries], counts[entries], _starts(found[long]), terms.filter(pa.array(long))


def _starts(sizes: Places) -> Places:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in slices of about ``_CHUNK`` characters."""
    start = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _CHUNK:
            yield texts[start : number + 1]
            start, size = number + 1, 0
    if start < len(texts):
        yield texts[start:]


def _words(texts: Sequence[str]) -> tuple[Any, Places]:
    """The words of some texts as an Arrow dictionary array, and how many each text has."""
    import pyarrow as pa

    folded, ends = _folded(texts)
    inside = folded != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])  # between separators: where words start, where they end, in turn
    first, past = edges[::2], edges[1::2]
    offsets = np.zeros(len(first) + 1, np.int32)
    np.cumsum(past - first, out=offsets[1:])
    letters = np.compress(inside, folded)  # a third quicker than folded[inside]
    words = pa.StringArray.from_buffers(len(first), pa.py_buffer(offsets), pa.py_buffer(letters))
    return words.dictionary_encode(), np.diff(np.searchsorted(first, ends), prepend=0)


def _folded(texts: Sequence[str]) -> tuple[Bytes, Places]:
    """The texts as one run of UTF-8 in lower case with 0 for all that is no word, and where each ends.

    Every text stands between two separators.
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    raw = b"\n".join([b"", *encoded, b""])
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1)
    folded = np.frombuffer(raw.translate(_FOLDED), np.uint8)
    if raw.isascii():
        return folded, ends
    leads, sizes, points = _characters(np.frombuffer(raw, np.uint8))
    kinds = np.flatnonzero(np.bincount(points))
    wordless, lower = np.zeros(kinds[-1] + 1, bool), np.arange(kinds[-1] + 1)
    wordless[kinds] = [not chr(kind).isalnum() for kind in kinds.tolist()]
    lower[kinds] = [_lower(kind) for kind in kinds.tolist()]
    lowered = lower[points]
    if (lowered < 0).any():
        which = set(np.searchsorted(ends, leads[lowered < 0]).tolist())
        return _folded([text.lower() if number in which else text for number, text in enumerate(texts)])
    folded = folded.copy()
    upper = np.flatnonzero(lowered != points)
    _write(folded, leads[upper], sizes[upper], lowered[upper])
    gone = wordless[points]
    for offset in range(4):
        folded[leads[gone & (sizes > offset)] + offset] = 0
    return folded, ends


def _lower(point: int) -> int:
    """The lower case of a character; -1 where it depends on neighbours (Σ) or has another length (İ)."""
    character = chr(point)
    lower = character.lower()
    if lower == character:
        return point
    simple = character != "Σ" and len(lower) == 1 and len(lower.encode()) == len(character.encode())
    return ord(lower) if simple else -1


def _characters(raw: Bytes) -> tuple[Places, Places, Places]:
    """The characters above 127 of UTF-8: where each starts, its bytes, its code point."""
    leads = np.flatnonzero(raw >= 0xC0)
    head = raw[leads].astype(np.int64)
    sizes = 2 + (head >= 0xE0) + (head >= 0xF0)
    points = head & (0x7F >> sizes)
    for offset in range(1, 4):
        longer = np.flatnonzero(sizes > offset)
        points[longer] = points[longer] << 6 | raw[leads[longer] + offset] & 0x3F
    return leads, sizes, points


def _write(folded: Bytes, leads: Places, sizes: Places, points: Places) -> None:
    """Write characters of so many bytes where they start; the reverse of ``_characters``."""
    folded[leads] = points >> 6 * (sizes - 1) | 0xF00 >> sizes & 0xFF  # 0xC0, 0xE0, 0xF0 for 2, 3, 4 bytes
    for offset in range(1, 4):
        longer = np.flatnonzero(sizes > offset)
        folded[leads[longer] + offset] = points[longer] >> 6 * (sizes[longer] - 1 - offset) & 0x3F | 0x80
