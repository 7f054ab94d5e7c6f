"""The concave-convex procedure for rows with missing inputs and labels, and direct minimisation beside it."""
