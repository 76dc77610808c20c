"""Which terms are learned from, and texts as sparse rows over them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cyclotron.core.text import term_counts

MAX_TERMS = 5_000
MIN_TEXTS = 2


@dataclass(frozen=True)
class Vocabulary:
    """Terms in code point order with their weights (inverse document frequency)."""

    terms: tuple[str, ...]
    weights: NDArray[np.float64]

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each term."""
        return {term: position for position, term in enumerate(self.terms)}


def choose_vocabulary(texts: Iterable[str], max_terms: int = MAX_TERMS) -> Vocabulary:
    """The most widespread terms that at least two texts hold (ties by code point order)."""
    spread: Counter[str] = Counter()
    count = 0
    for text in texts:
        spread.update(term_counts(text).keys())
        count += 1
    ranked = sorted((-texts_with, term) for term, texts_with in spread.items() if texts_with >= MIN_TEXTS)
    terms = tuple(sorted(term for _, term in ranked[:max_terms]))
    frequency = np.array([spread[term] for term in terms], dtype=np.float64)
    return Vocabulary(terms, rounded(np.log((1.0 + count) / (1.0 + frequency)) + 1.0))


def rows_of(texts: Sequence[str], vocabulary: Vocabulary) -> sparse.csr_matrix:
    """One row of unit length for each text: `(1 + ln count) * weight` of its terms. Shape (texts, terms)."""
    positions = vocabulary.positions
    starts = [0]
    columns: list[int] = []
    counts: list[int] = []
    for text in texts:
        for term, count in term_counts(text).items():
            position = positions.get(term)
            if position is not None:
                columns.append(position)
                counts.append(count)
        starts.append(len(columns))
    index = np.array(columns, dtype=np.intp)
    values = (1.0 + np.log(np.array(counts, dtype=np.float64))) * vocabulary.weights[index]
    rows = sparse.csr_matrix((values, index, np.array(starts)), shape=(len(texts), len(vocabulary.terms)))
    rows.sort_indices()
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ rows)


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at four significant digits, so that a stored version stays small and reads well."""
    return np.array([float(f"{value:.4g}") for value in values], dtype=np.float64)
