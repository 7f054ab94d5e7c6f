"""Kobayashi, Aluja and Belanche, *Handling missing values in kernel methods with application to microbiology data*."""

from gapkernel.papers.microbiology.completion_kernel import CompletionKernel
from gapkernel.papers.microbiology.mean_gram import MeanGram
from gapkernel.papers.microbiology.naive_bayes import CategoricalNaiveBayes

__all__ = ["CategoricalNaiveBayes", "CompletionKernel", "MeanGram"]
