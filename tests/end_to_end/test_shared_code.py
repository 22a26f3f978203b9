"""Goal: jobs that differ only in a number share their machine code through the cache on disk: the first compiles it, the
others, each a process of its own, find it."""
import unittest

from service import points_job, serve_points


class SharedCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        serve_points(cls, ("--warm-executors-s", "0"), rows=500)

    def run_all(self, cores):
        """The jobs' ids; the first has ended before the others begin."""
        jobs = []
        for rate in (0.001, 0.002, 0.004, 0.008, 0.016):
            jobs.append(self.service.submit(points_job(accelerator={"cores": cores}, train={
                "epochs": 2, "batch_size_per_core": 16, "optimizer": {"name": "adam", "lr": rate}})))
            if len(jobs) == 1:
                self.service.wait_end(jobs[0])
        for job in jobs:
            self.assertEqual(self.service.wait_end(job)["state"], "succeeded")
        return jobs

    def check(self, cores):
        jobs = self.run_all(cores)
        reports = [self.service.get(f"/v1/jobs/{job}/report") for job in jobs]
        first = reports[0]["compile_cache"]
        self.assertGreater(first["misses"], 0)
        self.assertEqual(first["stored"], first["misses"])
        hashes = [graph["hash"] for graph in reports[0]["graphs"]]
        for report in reports[1:]:
            self.assertEqual(report["compile_cache"]["misses"], 0)
            self.assertEqual(report["compile_cache"]["hits"], first["hits"] + first["misses"])
            self.assertEqual([graph["hash"] for graph in report["graphs"]], hashes)
        for job, report in zip(jobs, reports):
            self.assertEqual(report["counters"]["UncachedCompile"], 2)
            late = [event for event in self.service.events(job) if event["type"] == "compile"
                    and event["body"].get("after_warm_up")]
            self.assertEqual(late, [])
        self.assertEqual(len({tuple(self.service.metric(job, "train_loss").values()) for job in jobs}), len(jobs))

    def test_jobs_of_one_core_compile_once(self):
        self.check(1)

    def test_jobs_of_eight_cores_compile_once(self):
        self.check(8)


if __name__ == "__main__":
    unittest.main()
