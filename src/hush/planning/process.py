"""A Gaussian process: from points and what was seen there, to means and standard deviations elsewhere."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from hush.errors import missing
from hush.types import Floats

Range = tuple[float, float]
_ANY: Range = (1e-5, 1e5)


@dataclass(eq=False)
class Process:
    """Matérn's covariance with noise, fitted to what was seen; needs scikit-learn.

    Args:
        asked: What needs it, to say so where scikit-learn is missing.
        smoothness: Matérn's ν: how often what is modelled can be differentiated.
        noise: Variance of what was seen, at first.
        noises: Between these it is fitted.
        sizes: Between these the variance is.
        lengths: Between these the distance is over which it changes.
        seed: Of the fit.
        follows: Whether a fit begins where the last one ended.
    """

    asked: str
    smoothness: float
    noise: float
    noises: Range
    sizes: Range = _ANY
    lengths: Range = _ANY
    seed: int = 0
    follows: bool = False
    _model: Any = field(init=False)

    def __post_init__(self) -> None:
        try:
            from sklearn.gaussian_process import GaussianProcessRegressor
            from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
        except ImportError:
            raise missing("scikit-learn", "budget", self.asked) from None
        smooth = ConstantKernel(1.0, self.sizes) * Matern(1.0, self.lengths, nu=self.smoothness)
        kernel = smooth + WhiteKernel(self.noise, self.noises)
        self._model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=self.seed)

    def predicted(self, at: Floats, seen: Floats, wanted: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations at the wanted points."""
        threads = import_module("threadpoolctl")  # comes with scikit-learn
        with warnings.catch_warnings(), threads.threadpool_limits(1):  # matrices are small: threads would only wait
            warnings.simplefilter("ignore")  # a parameter that reached its bound
            self._model.fit(at[:, None], seen)
            if self.follows:
                self._model.kernel = self._model.kernel_
            mean, spread = self._model.predict(wanted[:, None], return_std=True)
        return mean, spread
