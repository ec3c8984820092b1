//! From a refined program to structured kernels and a launch plan.
