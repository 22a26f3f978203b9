#!/usr/bin/env python3
"""How good TPE's points are, beside Optuna: median regret of ten standard functions.

usage: bench/search_quality.py BUILD [--seeds N] [--first-seed N] [--evaluations N] [--functions NAME...]

BUILD is a build folder with bin/bench_search_points. Optuna is Debian's python3-optuna; it may be unpacked aside
(apt-get download, dpkg -x) and named by PYTHONPATH. Both see the same functions, one evaluation at a time. Regret is the best
value of a run minus the known minimum. Optuna runs as it is by default and with multivariate=True, constant_liar=True; without
it the script prints our column and random search alone.
"""
import argparse
import json
import math
import statistics
import subprocess


def branin(x):
    a, b = x
    return (b - 5.1 / (4 * math.pi ** 2) * a * a + 5 / math.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


def camel(x):
    a, b = x
    return (4 - 2.1 * a * a + a ** 4 / 3) * a * a + a * b + (-4 + 4 * b * b) * b * b


def goldstein_price(x):
    a, b = x
    return ((1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b))
            * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b)))


def hartmann(alphas, places, x):
    weights = (1.0, 1.2, 3.0, 3.2)
    return -sum(w * math.exp(-sum(a * (v - p) ** 2 for a, p, v in zip(row, place, x)))
                for w, row, place in zip(weights, alphas, places))


HARTMANN3 = (((3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35)),
             ((0.3689, 0.1170, 0.2673), (0.4699, 0.4387, 0.7470), (0.1091, 0.8732, 0.5547), (0.0381, 0.5743, 0.8828)))
HARTMANN6 = (((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14)),
             ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
              (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381)))


def sphere(x):
    return sum((v - 1) ** 2 for v in x)


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def ackley(x):
    n = len(x)
    return (-20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / n))
            - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / n) + 20 + math.e)


def rastrigin(x):
    return 10 * len(x) + sum(v * v - 10 * math.cos(2 * math.pi * v) for v in x)


def levy(x):
    w = [1 + (v - 1) / 4 for v in x]
    return (math.sin(math.pi * w[0]) ** 2
            + sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])
            + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2))


# name -> (function, bounds, minimum). Optima are moved away from the middle where they lie there.
FUNCTIONS = {
    "branin": (branin, [(-5, 10), (0, 15)], 0.397887),
    "camel": (camel, [(-3, 3), (-2, 2)], -1.031628),
    "goldstein_price": (goldstein_price, [(-2, 2), (-2, 2)], 3.0),
    "hartmann3": (lambda x: hartmann(*HARTMANN3, x), [(0, 1)] * 3, -3.86278),
    "hartmann6": (lambda x: hartmann(*HARTMANN6, x), [(0, 1)] * 6, -3.32237),
    "sphere5": (sphere, [(-5, 5)] * 5, 0.0),
    "rosenbrock4": (rosenbrock, [(-2, 2)] * 4, 0.0),
    "ackley5": (ackley, [(-20, 32)] * 5, 0.0),
    "rastrigin4": (rastrigin, [(-3, 5.12)] * 4, 0.0),
    "levy5": (levy, [(-10, 10)] * 5, 0.0),
}


class Ours:
    """One bench_search_points for all runs."""

    def __init__(self, build):
        self.process = subprocess.Popen([f"{build}/bin/bench_search_points"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def tell(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def best(self, function, bounds, seed, evaluations, algorithm):
        space = {f"x{i}": {"type": "uniform", "min": low, "max": high} for i, (low, high) in enumerate(bounds)}
        answer = self.tell({"space": space, "algorithm": algorithm, "seed": seed, "max_trials": evaluations})
        values = []
        while answer:
            values.append(function([answer["point"][f"x{i}"] for i in range(len(bounds))]))
            answer = self.tell({"value": values[-1]})
        assert len(values) == evaluations
        return min(values)


def optuna_best(optuna, function, bounds, seed, evaluations, options):
    sampler = optuna.samplers.TPESampler(seed=seed, **options)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: function([trial.suggest_float(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)]),
                   n_trials=evaluations)
    return study.best_value


def contestants(build):
    """Name -> a function that gives the best value of a run."""
    ours = Ours(build)
    table = {
        "random": lambda *run: ours.best(*run, {"name": "random"}),
        "sobol": lambda *run: ours.best(*run, {"name": "sobol"}),
        "tpe": lambda *run: ours.best(*run, {"name": "tpe"}),
    }
    try:
        import optuna
    except ImportError:
        return table
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    import warnings
    warnings.filterwarnings("ignore")
    table["optuna"] = lambda *run: optuna_best(optuna, *run, {})
    table["optuna_multivariate"] = lambda *run: optuna_best(optuna, *run, {"multivariate": True, "constant_liar": True})
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0, help="others than those that constants were chosen on")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--functions", nargs="+", default=list(FUNCTIONS), choices=list(FUNCTIONS))
    parser.add_argument("--only", nargs="+", help="columns to run, for instance tpe")
    arguments = parser.parse_args()
    table = contestants(arguments.build)
    names = [name for name in table if not arguments.only or name in arguments.only]
    print("median regret".ljust(18) + "".join(name.rjust(22) for name in names), flush=True)
    for name in arguments.functions:
        function, bounds, minimum = FUNCTIONS[name]
        row = name.ljust(18)
        for contestant in names:
            regrets = [table[contestant](function, bounds, seed, arguments.evaluations) - minimum
                       for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)]
            row += f"{statistics.median(regrets):22.4g}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
