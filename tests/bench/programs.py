"""The programs that `cargo xtask bench cpu` compares, with their inputs and the ratios to reach.

Every input comes from a generator with a fixed seed, so that each run measures the same work.
"""

import dataclasses
import typing

import jax
import jax.numpy as jnp
import numpy as np

SEED = 20240607

F32 = np.float32
ELEMENTS = 16 * 1024 * 1024
MLP_SIZES = (784, 512, 256, 10)
LEARNING_RATE = 0.1
MASKED = -1e9


@dataclasses.dataclass(frozen=True)
class Case:
    """A program to time. `inputs` makes its arguments with a random generator; ratios are ours by XLA's, `None` where the
    figure is only reported. Results may differ by `tolerance`, relative to the largest element of each."""

    name: str
    function: typing.Callable
    inputs: typing.Callable
    bar: float | None = None
    aim: float | None = None
    tolerance: float = 1e-4

    def arguments(self):
        return self.inputs(np.random.default_rng(SEED))


def normal(*shape):
    return lambda random: [random.standard_normal(shape, F32)]


def normals(*shapes):
    return lambda random: [random.standard_normal(shape, F32) for shape in shapes]


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def tanh_chain(x):
    for _ in range(20):
        x = jnp.tanh(x * 1.01) * 0.99 + 0.01
    return x


def maximum_chain(x, y):
    for _ in range(10):
        x = jnp.maximum(x * y + 0.5, y)
    return x


def rows_and_positions(random):
    return [random.standard_normal((100_000, 64), F32), random.integers(0, 100_000, 100_000, np.int32)]


def rows_positions_and_updates(random):
    return [*rows_and_positions(random), random.standard_normal((100_000, 64), F32)]


def narrow_matrices(random):
    return [random.standard_normal((1024, 1024), F32).astype(jnp.bfloat16) for _ in range(2)]


def positive_definite(random):
    x = random.standard_normal((512, 512), F32)
    return [x @ x.T + 512 * np.eye(512, dtype=F32)]


def threefry_normal(key):
    return jax.random.normal(jax.random.wrap_key_data(key), (4 * 1024 * 1024,))


def weights(random, *shape):
    return random.standard_normal(shape, F32) * F32(shape[0] ** -0.5)


def mlp_inputs(random, batch=128):
    sizes = list(zip(MLP_SIZES[:-1], MLP_SIZES[1:]))
    parameters = [(weights(random, wide, narrow), np.zeros(narrow, F32)) for wide, narrow in sizes]
    return [parameters, random.standard_normal((batch, MLP_SIZES[0]), F32), random.integers(0, 10, batch, np.int32)]


def mlp_loss(parameters, x, labels):
    for weight, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = parameters[-1]
    logits = jax.nn.log_softmax(x @ weight + bias)
    return -jnp.mean(jnp.sum(logits * jax.nn.one_hot(labels, MLP_SIZES[-1]), -1))


def mlp_train(parameters, x, labels):
    loss, gradients = jax.value_and_grad(mlp_loss)(parameters, x, labels)
    return loss, jax.tree.map(lambda value, gradient: value - LEARNING_RATE * gradient, parameters, gradients)


def block_parameters(random, width):
    ones, zeros = (lambda size: np.ones(size, F32)), (lambda size: np.zeros(size, F32))
    return {
        "scale1": ones(width),
        "shift1": zeros(width),
        "qkv": weights(random, width, 3 * width),
        "out": weights(random, width, width),
        "scale2": ones(width),
        "shift2": zeros(width),
        "up": weights(random, width, 4 * width),
        "up_bias": zeros(4 * width),
        "down": weights(random, 4 * width, width),
        "down_bias": zeros(width),
    }


def block_inputs(random, batch=8, width=256):
    return [block_parameters(random, width), random.standard_normal((batch, 128, width), F32)]


def attend(query, key, value):
    """Causal attention over the last two dimensions: positions by features."""
    positions, features = query.shape[-2:]
    scores = query @ jnp.swapaxes(key, -1, -2) / np.sqrt(features).astype(F32)
    scores = jnp.where(jnp.tril(jnp.ones((positions, positions), bool)), scores, MASKED)
    return jax.nn.softmax(scores, -1) @ value


def block(parameters, x, heads=8):
    batch, positions, width = x.shape
    normed = layer_norm(x, parameters["scale1"], parameters["shift1"])
    split = (normed @ parameters["qkv"]).reshape(batch, positions, 3, heads, width // heads)
    query, key, value = (split[:, :, part].transpose(0, 2, 1, 3) for part in range(3))
    attended = attend(query, key, value).transpose(0, 2, 1, 3).reshape(batch, positions, width)
    x = x + attended @ parameters["out"]
    normed = layer_norm(x, parameters["scale2"], parameters["shift2"])
    hidden = jax.nn.gelu(normed @ parameters["up"] + parameters["up_bias"])
    return x + hidden @ parameters["down"] + parameters["down_bias"]


def block_gradients(parameters, x):
    return jax.value_and_grad(lambda parameters: (block(parameters, x) ** 2).mean())(parameters)


def lstm_inputs(random):
    hidden = 128
    parameters = (weights(random, hidden, 4 * hidden), weights(random, hidden, 4 * hidden), np.zeros(4 * hidden, F32))
    return [parameters, random.standard_normal((100, 16, hidden), F32)]


def lstm(parameters, steps):
    of_input, of_hidden, bias = parameters

    def step(state, x):
        hidden, cell = state
        update, forget, candidate, output = jnp.split(x @ of_input + hidden @ of_hidden + bias, 4, -1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(update) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(output) * jnp.tanh(cell)
        return (hidden, cell), hidden

    start = jnp.zeros((steps.shape[1], of_hidden.shape[0]))
    return jax.lax.scan(step, (start, start), steps)[1]


def convolution(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def adam_inputs(random):
    """Parameters of four layers with embedding, their two moments, the number of the step, and tokens."""
    parameters = {
        "embedding": weights(random, 512, 128),
        "layers": [block_parameters(random, 128) for _ in range(4)],
    }
    zeros = jax.tree.map(np.zeros_like, parameters)
    return [parameters, zeros, zeros, np.float32(1), random.integers(0, 512, (4, 65), np.int32)]


def transformer_loss(parameters, tokens):
    x = parameters["embedding"][tokens[:, :-1]]
    for layer in parameters["layers"]:
        x = block(layer, x)
    logits = jax.nn.log_softmax(x @ parameters["embedding"].T)
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


def transformer_train_adam(parameters, first, second, step, tokens):
    loss, gradients = jax.value_and_grad(transformer_loss)(parameters, tokens)
    first = jax.tree.map(lambda moment, gradient: 0.9 * moment + 0.1 * gradient, first, gradients)
    second = jax.tree.map(lambda moment, gradient: 0.999 * moment + 0.001 * gradient**2, second, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    update = lambda value, first, second: value - rate * first / (jnp.sqrt(second) + 1e-8)
    return loss, jax.tree.map(update, parameters, first, second), first, second


DISPATCH = Case("dispatch", lambda x: x + 1, normal(4))
DISPATCH_BAR_NS = 2000
MLP_TRAIN = Case("mlp_train", mlp_train, mlp_inputs, 1.3, 1.0)
ADAM = Case("transformer_train_adam", transformer_train_adam, adam_inputs)

TIMED = [
    Case("softmax", lambda x: jax.nn.softmax(x, -1), normal(4096, 1024), 1.0, 0.8),
    Case("layer_norm", layer_norm, normals((4096, 1024), (1024,), (1024,)), 1.1, 0.8),
    Case("reduce_16m", lambda x: x.sum(), normal(ELEMENTS), 1.1, 0.8, tolerance=1e-2),
    Case("tanh_chain_16m", tanh_chain, normal(ELEMENTS), 0.5, 0.25),
    Case("maximum_chain_16m", maximum_chain, normals((ELEMENTS,), (ELEMENTS,)), 0.5, 0.4),
    Case("add_16m", lambda x, y: x + y, normals((ELEMENTS,), (ELEMENTS,)), 0.4, 0.4),
    Case("transpose_4096", lambda x: x.T, normal(4096, 4096), 0.3, 0.3, tolerance=0),
    Case("sort_1m", jnp.sort, normal(1_000_000), 0.1, 0.08, tolerance=0),
    Case("gather", lambda rows, at: rows[at], rows_and_positions, 0.8, 0.8, tolerance=0),
    Case("scatter_add", lambda rows, at, updates: rows.at[at].add(updates), rows_positions_and_updates, 0.8, 0.8),
    Case("matmul_1024", jnp.matmul, normals((1024, 1024), (1024, 1024)), 1.2, 1.0),
    Case("matmul_256", jnp.matmul, normals((256, 256), (256, 256)), 1.0, 1.0),
    Case("matmul_64x128", jnp.matmul, normals((64, 128, 128), (64, 128, 128)), 1.0, 1.0),
    MLP_TRAIN,
    Case("block_forward", block, block_inputs, 1.3, 1.0),
    Case("block_gradients", block_gradients, block_inputs, 1.3, 1.0, tolerance=1e-3),
    Case("lstm_scan", lstm, lstm_inputs, 1.3, 1.0),
    Case("convolution", convolution, normals((8, 56, 56, 64), (3, 3, 64, 64))),
    Case("attention", attend, normals(*[(4, 8, 256, 64)] * 3)),
    Case("rfft", jnp.fft.rfft, normal(4096, 1024)),
    Case("cholesky_512", jnp.linalg.cholesky, positive_definite),
    Case("normal_4m", threefry_normal, lambda random: [np.array([0, 42], np.uint32)]),
    Case("matmul_1024_bf16", jnp.matmul, narrow_matrices, tolerance=2e-2),
]

# Programs of the corpus whose compile time counts.
COMPILED = ["mlp_train_sgd", "transformer_block", "conv_train_sgd", "lstm_scan"]
COMPILED_BAR = 1 / 15

# By name: a program, its inputs for a batch size, and which of the flat inputs have the batch first.
SYMBOLIC = {
    "mlp_train": (mlp_train, mlp_inputs, lambda count: range(count - 2, count)),
    "block_forward": (block, block_inputs, lambda count: range(count - 1, count)),
}
SYMBOLIC_BAR = 1.15
SYMBOLIC_BATCHES = [*range(1, 11), 12, 16, 20, 24, 31, 32, 48, 64, 96, 128]
# The size at which the program of open sizes is timed against that of fixed ones.
SYMBOLIC_TIMED = 32

PEAK_BAR = 1.2
