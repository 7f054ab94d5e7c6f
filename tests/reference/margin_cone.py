"""The convex step of the margin machine as an exponential-cone program: slow, plain, by another method."""

import clarabel
import numpy as np
from scipy import sparse


def minimum_by_cones(features, log_weight, counts, own, plane_offset, plane_slope, penalty):
    """min penalty/2 ||theta||^2 + sum_i xi_i,  plane_i(theta) - g(theta | x_i, k) >= 1 - xi_i for k != y_i: (22).

    plane_i(theta) = plane_offset_i + sum_s plane_slope_is (<theta_y, phi_is> + log w_is). Each
    g(theta | x_i, k) <= t_ik is sum_s u_iks <= 1 with (F_iks - t_ik, 1, u_iks) in the exponential cone.
    """
    n, classes, r = len(counts), own.shape[1], features.shape[1]
    starts = np.concatenate([[0], np.cumsum(counts)])
    labels = own.argmax(axis=1)
    n_theta = classes * r
    rivals = [(i, k) for i in range(n) for k in range(classes) if k != labels[i]]
    n_t, n_u = len(rivals), sum(counts[i] for i, _ in rivals)
    size = n_theta + n + n_t + n_u
    linear, bound, cone, cone_b = [], [], [], []

    def unit(at):
        row = np.zeros(size)
        row[at] = 1.0
        return row

    for i in range(n):
        linear.append(-unit(n_theta + i))  # xi >= 0
        bound.append(0.0)
    u_at = n_theta + n + n_t
    for j, (i, k) in enumerate(rivals):
        mine = slice(starts[i], starts[i + 1])
        t_at = n_theta + n + j
        margin = unit(t_at) - unit(n_theta + i)  # t_ik - xi_i - plane_i <= -1
        own_at = slice(labels[i] * r, (labels[i] + 1) * r)
        margin[own_at] -= plane_slope[mine] @ features[mine]
        linear.append(margin)
        bound.append(-1.0 + plane_offset[i] + plane_slope[mine] @ log_weight[mine])
        total = np.zeros(size)
        total[u_at : u_at + counts[i]] = 1.0
        linear.append(total)
        bound.append(1.0)
        for s in range(starts[i], starts[i + 1]):
            score = unit(t_at)
            score[k * r : (k + 1) * r] = -features[s]
            cone += [score, np.zeros(size), -unit(u_at)]
            cone_b += [log_weight[s], 1.0, 0.0]
            u_at += 1
    P = sparse.diags_array(np.concatenate([np.full(n_theta, penalty), np.zeros(size - n_theta)]), format="csc")
    q = np.concatenate([np.zeros(n_theta), np.ones(n), np.zeros(n_t + n_u)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(linear)), *[clarabel.ExponentialConeT()] * n_u]
    A, b = sparse.csc_array(np.array(linear + cone)), np.array(bound + cone_b)
    return clarabel.DefaultSolver(P, q, A, b, cones, settings).solve().obj_val
