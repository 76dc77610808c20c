"""Which terms are learned from, and texts as sparse rows over them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cyclotron.core.text import KINDS, OPENING_KIND, PAIR_KIND, WORD_KIND, kind_of, term_counts

MAX_TERMS: Mapping[int, int] = {WORD_KIND: 2_500, PAIR_KIND: 2_000, OPENING_KIND: 500}
MIN_TEXTS = 2


@dataclass(frozen=True)
class Vocabulary:
    """Terms in code point order with their kinds and weights (inverse document frequency)."""

    terms: tuple[str, ...]
    weights: NDArray[np.float64]

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each term."""
        return {term: position for position, term in enumerate(self.terms)}

    @cached_property
    def kinds(self) -> NDArray[np.intp]:
        """The kind of each term."""
        return np.array([kind_of(term) for term in self.terms], dtype=np.intp)


def choose_vocabulary(texts: Iterable[str], max_terms: Mapping[int, int] = MAX_TERMS) -> Vocabulary:
    """Of each kind the most widespread terms that at least two texts hold (ties by code point order)."""
    spread: Counter[str] = Counter()
    count = 0
    for text in texts:
        spread.update(term_counts(text).keys())
        count += 1
    ranked: dict[int, list[tuple[int, str]]] = {kind: [] for kind in KINDS}
    for term, texts_with in spread.items():
        if texts_with >= MIN_TEXTS:
            ranked[kind_of(term)].append((-texts_with, term))
    kept = chain.from_iterable(sorted(found)[: max_terms[kind]] for kind, found in ranked.items())
    terms = tuple(sorted(term for _, term in kept))
    frequency = np.array([spread[term] for term in terms], dtype=np.float64)
    return Vocabulary(terms, rounded(np.log((1.0 + count) / (1.0 + frequency)) + 1.0))


def rows_of(texts: Sequence[str], vocabulary: Vocabulary) -> sparse.csr_matrix:
    """One row for each text: `(1 + ln count) * weight` of its terms, of unit length within each kind of term.

    Shape (texts, terms).
    """
    positions = vocabulary.positions
    starts = [0]
    columns: list[int] = []
    counts: list[int] = []
    for text in texts:
        found = [(positions[term], count) for term, count in term_counts(text).items() if term in positions]
        columns += [column for column, _ in found]
        counts += [count for _, count in found]
        starts.append(len(columns))
    index = np.array(columns, dtype=np.intp)
    values = (1.0 + np.log(np.array(counts, dtype=np.float64))) * vocabulary.weights[index]
    owners = np.repeat(np.arange(len(texts)), np.diff(starts)) * len(KINDS) + vocabulary.kinds[index]
    lengths = np.sqrt(np.bincount(owners, weights=values * values, minlength=len(texts) * len(KINDS)))
    rows = sparse.csr_matrix((values / lengths[owners], index, starts), shape=(len(texts), len(vocabulary.terms)))
    rows.sort_indices()
    return rows


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at four significant digits, so that a stored version stays small and reads well."""
    return np.array([float(f"{value:.4g}") for value in values], dtype=np.float64)
