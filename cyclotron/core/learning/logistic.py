"""Penalised logistic regression by L-BFGS: binary on sparse rows, multinomial on dense ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse, special

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BinaryFit:
    """`logit = bias + rows @ coefficients`."""

    coefficients: Vector
    bias: float


@dataclass(frozen=True)
class MultinomialFit:
    """`probabilities = softmax(bias + rows @ coefficients.T)`; shapes (classes, features) and (classes,)."""

    coefficients: Vector
    bias: Vector


def fit_binary(rows: sparse.csr_matrix, is_one: Vector, weights: Vector, penalty: float) -> BinaryFit:
    """Minimise `sum(weights * logistic loss) + penalty / 2 * |coefficients|^2`; the bias carries no penalty.

    `rows` has shape (n, terms), `is_one` (n,) holds 0 or 1, `weights` (n,) are positive.
    """
    columns = rows.T.tocsr()
    sign = 2.0 * is_one - 1.0

    def loss(point: Vector) -> tuple[float, Vector]:
        margin = sign * (rows @ point[:-1] + point[-1])
        pull = -weights * sign * special.expit(-margin)
        value = float(np.sum(weights * np.logaddexp(0.0, -margin)) + 0.5 * penalty * np.sum(point[:-1] ** 2))
        return value, np.append(columns @ pull + penalty * point[:-1], np.sum(pull))

    point = _lowest(loss, rows.shape[1] + 1)
    return BinaryFit(point[:-1], float(point[-1]))


def fit_multinomial(
    rows: Vector, classes: NDArray[np.intp], count: int, weights: Vector, penalty: float
) -> MultinomialFit:
    """Minimise `sum(weights * cross entropy) + penalty / 2 * |coefficients|^2`; the biases carry no penalty.

    `rows` has shape (n, features), `classes` (n,) holds 0 to `count` - 1.
    """
    features = rows.shape[1]
    wanted = np.zeros((len(classes), count))
    wanted[np.arange(len(classes)), classes] = 1.0

    def loss(point: Vector) -> tuple[float, Vector]:
        table = point.reshape(count, features + 1)
        logits = rows @ table[:, :-1].T + table[:, -1]
        log_shares = logits - special.logsumexp(logits, axis=1, keepdims=True)
        pull = weights[:, None] * (np.exp(log_shares) - wanted)
        slope = np.hstack([pull.T @ rows + penalty * table[:, :-1], pull.sum(axis=0)[:, None]])
        value = -np.sum(weights * np.sum(wanted * log_shares, axis=1)) + 0.5 * penalty * np.sum(table[:, :-1] ** 2)
        return float(value), slope.ravel()

    table = _lowest(loss, count * (features + 1)).reshape(count, features + 1)
    return MultinomialFit(table[:, :-1].copy(), table[:, -1] - np.mean(table[:, -1]))


def rescaled(fit: MultinomialFit, rows: Vector, classes: NDArray[np.intp], weights: Vector) -> MultinomialFit:
    """The fit with all its coefficients times one factor, and other biases, so that its probabilities hold.

    A strong penalty leaves a fit less sure than the examples allow. Minimises `sum(weights * cross entropy)` over the
    factor and the biases, with a penalty of one example on the factor times the spread of the logits.
    """
    logits = rows @ fit.coefficients.T
    logits -= logits.mean(axis=1, keepdims=True)
    spread = float(
        np.sqrt(np.average(((logits - np.average(logits, axis=0, weights=weights)) ** 2).mean(axis=1), weights=weights))
    )
    if spread < 1e-12:
        return fit
    unit = logits / spread
    count = len(fit.bias)
    wanted = np.zeros((len(classes), count))
    wanted[np.arange(len(classes)), classes] = 1.0

    def loss(point: Vector) -> tuple[float, Vector]:
        log_shares = special.log_softmax(point[0] * unit + point[1:], axis=1)
        pull = weights[:, None] * (np.exp(log_shares) - wanted)
        value = -np.sum(weights * np.sum(wanted * log_shares, axis=1)) + 0.5 * point[0] ** 2
        return float(value), np.append(np.sum(pull * unit) + point[0], pull.sum(axis=0))

    point = _lowest(loss, count + 1)
    return MultinomialFit(fit.coefficients * (point[0] / spread), point[1:] - np.mean(point[1:]))


def _lowest(loss: Callable[[Vector], tuple[float, Vector]], size: int) -> Vector:
    """The minimum of a smooth convex function that returns its value and slope, from zero."""
    point, _, _ = optimize.fmin_l_bfgs_b(loss, np.zeros(size), pgtol=1e-6, factr=1e4, maxiter=1_000, maxfun=5_000)
    return np.asarray(point, dtype=np.float64)
