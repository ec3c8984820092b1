"""A training step as a portable artifact, and what jaxlib takes to read and write one.

Usage: training_step.py export FILE: writes the artifact of a training step.
       training_step.py time FILE PASSES: prints "operations, seconds to read, seconds to write" of an artifact.
"""

import statistics
import sys
import time

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jaxlib.mlir.dialects import stablehlo

VERSION = "1.13.0"
LAYERS = 12
WIDTH = 64


def layer(parameters, x):
    query, key, value, up, down, scale = parameters
    mean = x.mean(-1, keepdims=True)
    x_norm = (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale
    scores = jnp.einsum("btd,bsd->bts", x_norm @ query, x_norm @ key) / WIDTH**0.5
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    x = x + weights @ (x_norm @ value)
    return x + jax.nn.gelu(x @ up) @ down


def loss(parameters, x, target):
    for layer_parameters in parameters:
        x = layer(layer_parameters, x)
    return ((x - target) ** 2).mean()


def step(parameters, first, second, count, x, target):
    """One step of Adam."""
    value, gradients = jax.value_and_grad(loss)(parameters, x, target)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return parameters, first, second, count + 1, value


def count_operations(op):
    return 1 + sum(count_operations(inner) for region in op.regions for block in region for inner in block)


def middle(passes, run):
    times = []
    for _ in range(passes):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def export(path):
    shapes = [(WIDTH, WIDTH)] * 3 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH), (WIDTH,)]
    parameters = [tuple(jnp.zeros(shape) for shape in shapes) for _ in range(LAYERS)]
    x = jnp.zeros((2, 16, WIDTH))
    lowered = jax.jit(step).lower(parameters, parameters, parameters, 1.0, x, x)
    with mlir.make_ir_context():
        artifact = stablehlo.serialize_portable_artifact(lowered.compiler_ir("stablehlo"), VERSION)
    open(path, "wb").write(artifact)


def measure(path, passes):
    artifact = open(path, "rb").read()
    with mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        operations = count_operations(module.operation)
        read = middle(passes, lambda: stablehlo.deserialize_portable_artifact(context, artifact))
        write = middle(passes, lambda: stablehlo.serialize_portable_artifact(module, VERSION))
    print(operations, read, write)


if sys.argv[1] == "export":
    export(sys.argv[2])
else:
    measure(sys.argv[2], int(sys.argv[3]))
