"""Goal: every method of a stored split has the properties that scikit-learn documents for the splitter of the same name,
and its report counts what the manifest says.
Method: the executor divides tables of drawn shapes; this file reads manifest and table alone and counts everything
again, with its own few lines for each property. No code of the service is asked."""
import collections
import json
import pathlib
import random
import subprocess
import tempfile
import unittest

from service import BIN


def spread(counts):
    return max(counts) - min(counts)


class Divided:
    """What a manifest says of a table: for each fold the samples it trains on and those it validates."""

    def __init__(self, manifest, labels, groups):
        self.manifest, self.labels, self.groups = manifest, labels, groups
        self.folds, self.rows = manifest["folds"], manifest["validation"]
        self.val = [[i for row in self.rows for i, fold in enumerate(row) if fold == number] for number in range(self.folds)]
        self.train = [self.trained(number) for number in range(self.folds)]

    def trained(self, number):
        chosen = set(self.val[number])
        last = min(chosen) if self.manifest["training"] == "earlier" else len(self.labels)
        return [i for i in range(last) if i not in chosen]

    def class_counts(self, samples):
        counts = collections.Counter(self.labels[i] for i in samples)
        return [counts[name] for name in sorted(set(self.labels))]

    def groups_of(self, samples):
        return {self.groups[i] for i in samples}


class SplitProperties(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_table(self, seed, samples=None, group_count=None, class_count=None):
        """Labels and groups of very different frequencies. The first rows show every class and group."""
        draw = random.Random(seed)
        samples, group_count = samples or draw.randrange(60, 260), group_count or draw.randrange(12, 30)
        class_count = class_count or draw.randrange(2, 6)
        labels = [f"class{min(draw.randrange(class_count), draw.randrange(class_count))}" for _ in range(samples)]
        groups = [f"group{min(draw.randrange(group_count), draw.randrange(group_count)):02}" for _ in range(samples)]
        labels[:class_count] = [f"class{c}" for c in range(class_count)]
        groups[:group_count] = [f"group{g:02}" for g in range(group_count)]
        lines = [f"{draw.gauss(0, 1):.6f},{label},{group}" for label, group in zip(labels, groups)]
        (self.folder / "rows.csv").write_text("x,kind,who\n" + "\n".join(lines) + "\n")
        return labels, groups

    def divide(self, table, request):
        out = self.folder / "manifest.json"
        done = subprocess.run(
            [BIN / "slipway-executor", "split", "--format", "csv", "--path", self.folder / "rows.csv", "--options",
             json.dumps({"label_column": "kind", "feature_columns": ["x"]}), "--request", json.dumps(request), "--out", out],
            capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual(report.get("problem_count"), 0, report)
        divided = Divided(json.loads(out.read_text()), *table)
        self.check_report(divided, report)
        self.check_sides(divided)
        return divided, report

    def check_report(self, divided, report):
        self.assertEqual(report["folds"], divided.folds)
        for part, train, val in zip(report["parts"], divided.train, divided.val, strict=True):
            self.assertEqual((part["train"], part["val"]), (len(train), len(val)))
            self.assertEqual((part["train_classes"], part["val_classes"]),
                             (divided.class_counts(train), divided.class_counts(val)))
            if report["groups"] is not None:
                sides = divided.groups_of(train), divided.groups_of(val)
                self.assertEqual((part["train_groups"], part["val_groups"]), tuple(map(len, sides)))
                self.assertEqual(part["shared_groups"], len(sides[0] & sides[1]))

    def check_sides(self, divided):
        for train, val in zip(divided.train, divided.val):
            self.assertTrue(train and val)
            self.assertFalse(set(train) & set(val))

    def check_each_once(self, divided):
        samples = list(range(len(divided.labels)))
        each = divided.folds // len(divided.rows)
        for first in range(0, divided.folds, each):
            self.assertEqual(sorted(i for val in divided.val[first:first + each] for i in val), samples)
        for train, val in zip(divided.train, divided.val):
            self.assertEqual(sorted(train + val), samples)

    def check_groups_apart(self, divided):
        for train, val in zip(divided.train, divided.val):
            self.assertFalse(divided.groups_of(train) & divided.groups_of(val))

    def test_kfold_has_sizes_as_even_as_can_be(self):
        for seed in range(10):
            divided, _ = self.divide(self.write_table(seed), {"method": "kfold", "folds": 2 + seed, "seed": seed})
            self.check_each_once(divided)
            samples, folds = len(divided.labels), divided.folds
            sizes = [samples // folds + (number < samples % folds) for number in range(folds)]
            self.assertEqual(sorted(map(len, divided.val), reverse=True), sizes)

    def test_stratified_kfold_spreads_every_class_within_one_sample(self):
        for seed in range(10):
            request = {"method": "stratified_kfold", "folds": 2 + seed, "seed": seed}
            divided, _ = self.divide(self.write_table(seed), request)
            self.check_each_once(divided)
            for of_class in zip(*(divided.class_counts(val) for val in divided.val)):
                self.assertLessEqual(spread(of_class), 1)
            self.assertLessEqual(spread([len(val) for val in divided.val]), 1)

    def test_group_kfold_balances_as_the_greedy_rule_does(self):
        """scikit-learn: the largest group goes to the lightest fold. Ties may go elsewhere, sizes are the same."""
        for seed in range(10):
            request = {"method": "group_kfold", "folds": 2 + seed % 6, "group_by": "who", "seed": seed}
            divided, report = self.divide(self.write_table(seed), request)
            self.check_each_once(divided)
            self.check_groups_apart(divided)
            sizes = [0] * divided.folds
            for _, size in collections.Counter(divided.groups).most_common():
                sizes[sizes.index(min(sizes))] += size
            self.assertEqual(sorted(map(len, divided.val)), sorted(sizes))
            self.assertEqual(report["certificate"]["shared_groups"], 0)
            self.assertTrue(report["certificate"]["by_group"])

    def test_stratified_group_kfold_keeps_groups_apart_and_is_better_spread_than_without(self):
        def imbalance(divided):
            totals = divided.class_counts(range(len(divided.labels)))
            return sum(spread(of_class) / total
                       for of_class, total in zip(zip(*(divided.class_counts(val) for val in divided.val)), totals))
        plain, stratified = 0, 0
        for seed in range(10):
            table = self.write_table(seed, samples=240, group_count=24)
            request = {"folds": 4, "group_by": "who", "seed": seed}
            divided, _ = self.divide(table, {"method": "stratified_group_kfold", "stratify_by": "kind", **request})
            self.check_each_once(divided)
            self.check_groups_apart(divided)
            stratified += imbalance(divided)
            plain += imbalance(self.divide(table, {"method": "group_kfold", **request})[0])
        self.assertLess(stratified, plain)

    def test_leave_one_group_out_validates_every_group_alone(self):
        for seed in range(5):
            divided, _ = self.divide(self.write_table(seed), {"method": "leave_one_group_out", "group_by": "who"})
            self.check_each_once(divided)
            self.check_groups_apart(divided)
            self.assertEqual(divided.folds, len(set(divided.groups)))
            self.assertTrue(all(len(divided.groups_of(val)) == 1 for val in divided.val))

    def test_repeated_kfold_draws_again_for_every_repeat(self):
        variants = ({}, {"stratify_by": "kind"}, {"group_by": "who"}, {"group_by": "who", "stratify_by": "kind"})
        for seed, more in enumerate(variants):
            request = {"method": "repeated_kfold", "folds": 3, "repeats": 4, "seed": seed, **more}
            divided, _ = self.divide(self.write_table(seed, group_count=24), request)
            self.check_each_once(divided)
            self.assertEqual((divided.folds, len(divided.rows)), (12, 4))
            drawn = {tuple(fold % 3 for fold in row) for row in divided.rows}
            self.assertEqual(len(drawn), 4, "repeats differ")
            if "group_by" in more:
                self.check_groups_apart(divided)
            elif "stratify_by" in more:
                for of_class in zip(*(divided.class_counts(val) for val in divided.val)):
                    self.assertLessEqual(spread(of_class), 1)

    def test_time_series_is_the_formula_of_scikit_learn(self):
        for seed in range(5):
            folds = 2 + seed
            divided, _ = self.divide(self.write_table(seed), {"method": "time_series", "folds": folds})
            samples = len(divided.labels)
            size = samples // (folds + 1)
            starts = range(samples - folds * size, samples, size)
            self.assertEqual([(train, val) for train, val in zip(divided.train, divided.val)],
                             [(list(range(start)), list(range(start, start + size))) for start in starts])

    def test_the_seed_decides(self):
        table = self.write_table(1)
        for method in ("kfold", "stratified_kfold", "group_kfold", "stratified_group_kfold", "repeated_kfold"):
            request = {"method": method, "folds": 3, **({"group_by": "who"} if "group" in method else {})}
            first, again, other = (self.divide(table, {**request, "seed": seed}) for seed in (5, 5, 6))
            self.assertEqual(first[1]["hash"], again[1]["hash"])
            # Groups go by their size: the seed only decides among groups of the same one.
            if "group" not in method:
                self.assertNotEqual(first[0].rows, other[0].rows)


if __name__ == "__main__":
    unittest.main()
