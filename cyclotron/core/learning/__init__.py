"""The embedded learner: from training reviews to a configuration, and from answers to an ML model. Pure functions."""

from cyclotron.core.learning.folds import assign_folds
from cyclotron.core.learning.labelled import LabelledText
from cyclotron.core.learning.ml_model import FitExample, MlModel, decide_without_ml, fit_ml_model
from cyclotron.core.learning.proposal import propose

__all__ = [
    "FitExample",
    "LabelledText",
    "MlModel",
    "assign_folds",
    "decide_without_ml",
    "fit_ml_model",
    "propose",
]
