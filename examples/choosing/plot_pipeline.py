"""
In a pipeline with a ColumnTransformer
======================================

The estimators keep scikit-learn's contract, so they end a pipeline like any other: scalers pass gaps through, a
``ColumnTransformer`` treats columns by kind, ``GridSearchCV`` searches over every parameter of every step. No step
has to impute, and none sees rows of another fold.

``set_output(transform="pandas")`` matters here: the categories then reach the SVM as categories rather than as an
array of objects with lost types. The last picture is worth drawing for every model that will meet gaps: errors by
the number of gaps in a row. If new rows will have more gaps than these, expect the right-hand bars, not the
average.
"""

# %%
# Penguins again: numbers are scaled, a skewed one also by its logarithm, categories pass. All steps let gaps
# through.
import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins
from sklearn.compose import ColumnTransformer
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gapkernel as gk

birds = load_penguins().drop(columns="year")
sex = birds.pop("sex")
birds, sex = birds[sex.notna()], sex[sex.notna()].to_numpy()
birds = birds.mask(np.random.default_rng(0).random(birds.shape) < 0.2)

columns = ColumnTransformer(
    [
        ("mass", make_pipeline(FunctionTransformer(np.log), StandardScaler()), ["body_mass_g"]),
        ("numbers", StandardScaler(), ["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]),
        ("categories", "passthrough", ["species", "island"]),
    ],
    verbose_feature_names_out=False,
)
columns.set_output(transform="pandas")
model = make_pipeline(columns, gk.SVC(C=10.0))
model

# %%
# Every setting of every step can be searched by scikit-learn's own tools, the kernel included.
train, test, y_train, y_test = train_test_split(birds, sex, test_size=0.4, random_state=0, stratify=sex)
grid = {"svc__kernel": ["genrbf", "rbf", "ehk"], "svc__C": [1.0, 10.0, 100.0], "svc__indicator": [False, True]}
search = GridSearchCV(model, grid, cv=5).fit(train, y_train)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Does the fitted pipeline err more on birds with more gaps?
gaps = test.isna().sum(axis=1).to_numpy()
wrong = search.predict(test) != y_test
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
ConfusionMatrixDisplay.from_predictions(y_test, search.predict(test), ax=left, cmap="GnBu", colorbar=False)
groups = [gaps == 0, gaps == 1, gaps == 2, gaps >= 3]
right.bar(["0", "1", "2", "3 and more"], [100 * wrong[group].mean() for group in groups], color="#0f766e")
for k, group in enumerate(groups):
    right.annotate(f"{group.sum()} birds", (k, 100 * wrong[group].mean()), ha="center", va="bottom", fontsize=9)
right.set(xlabel="gaps in the row", ylabel="error, %")
plt.show()
