"""Goal: a backup of a service that works is whole, and what is restored from it goes on as if nothing had happened.
Method: jobs run and save all the time, others wait, a dataset is uploaded; backup and restore into a new home, three times."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from service import BIN, ENDLESS_EPOCHS, Service, home_parent, points_job, wait_for, write_points

ROUNDS = 3


def slipwayd(*words, check=0):
    done = subprocess.run([BIN / "slipwayd", *map(str, words)], capture_output=True, text=True, timeout=300)
    assert check is None or done.returncode == check, (words, done.returncode, done.stdout, done.stderr)
    return done


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-backup-", dir=home_parent()))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, True)

    def service(self, *options):
        service = Service("--cores", "2", *options)
        self.addCleanup(service.close)
        return service

    def upload(self, service):
        """The dataset `uploaded`, whose files are in the store."""
        write_points(self.folder / "points", rows=200)
        archive = self.folder / "points.zip"    # the second name is one that a list of files must survive
        with zipfile.ZipFile(archive, "w") as out:
            out.write(self.folder / "points" / "points.csv", "points.csv")
            out.write(self.folder / "points" / "points.csv", "odd \u00e9 \"name\".csv.bak")
        upload = service.post("/v1/uploads", {"filename": "points.zip", "size": archive.stat().st_size})
        answer = service.call("PATCH", f"/v1/uploads/{upload['id']}", archive.read_bytes(),
                              {"Content-Type": "application/octet-stream", "Upload-Offset": "0"})
        self.assertEqual(answer.status, 204, answer.body)
        service.post(f"/v1/uploads/{upload['id']}/complete", {})
        made = service.post("/v1/datasets", {"name": "uploaded", "format": "csv", "source": {"upload": upload["id"]},
                                             "options": {"group_column": "family"}})
        found = wait_for(lambda: (found := service.get(f"/v1/datasets/{made['id']}"))["state"] != "checking" and found, "the check")
        self.assertEqual(found["state"], "ready", found)

    def restored(self, backup, name):
        service = self.service()
        shutil.rmtree(service.home)
        service.home, service.data = self.folder / name, self.folder / "data"
        service.data.mkdir(exist_ok=True)
        slipwayd("restore", backup, "--home", service.home)
        return service

    def work(self, service):
        """Two jobs that save all the time and three that wait."""
        saving = points_job(data={"dataset": "uploaded"}, train={"epochs": ENDLESS_EPOCHS},
                            checkpoint={"every_steps": 5, "keep_last": 1})
        running = [service.submit({**saving, "name": f"runs {number}"}) for number in range(2)]
        queued = [service.submit({**points_job(data={"dataset": "uploaded"}), "name": f"waits {number}",
                                  "accelerator": {"cores": 1}}) for number in range(3)]
        for job in running:
            wait_for(lambda: service.get(f"/v1/jobs/{job}/checkpoints")["items"], f"a checkpoint of {job}")
        return running, queued

    def test_backup_and_restore_under_load(self):
        service = self.service()
        service.start()
        self.upload(service)
        running, queued = self.work(service)
        for number in range(ROUNDS):
            done = slipwayd("backup", self.folder / "backups", "--home", service.home)
            (backup,) = done.stdout.split()
            self.assertEqual(sorted(one.name for one in pathlib.Path(backup).iterdir()),
                             ["backup.json", "database.dump", "files", "files.ndjson"])
            restored = self.restored(backup, f"restored-{number}")
            restored.start()
            # They are older than those that wait, and hold both cores again.
            for job in running:
                # The attempt of the backup has ended, and the next one resumes.
                wait_for(lambda: [one for one in restored.get(f"/v1/jobs/{job}/attempts")["items"]
                                  if one["ended_at"] is None and one["resumed_from"]], "an attempt that resumes")
                restored.wait_state(job, "running")
                self.assertEqual(restored.call("POST", f"/v1/jobs/{job}/cancel").status, 200)
            self.assertEqual([restored.wait_end(job)["state"] for job in queued], ["succeeded"] * len(queued))
            self.assertEqual(restored.verify(), "")
            restored.stop()
            shutil.rmtree(backup)
        for job in running:
            self.assertEqual(service.job(job)["state"], "running")
            self.assertEqual(service.call("POST", f"/v1/jobs/{job}/cancel").status, 200)

    def test_hosts_remove_nothing_during_a_backup(self):
        service = self.service()
        service.start()
        write_points(service.data / "points")
        service.dataset("points", "csv", {"group_column": "family"})
        # As a backup does.
        holder = subprocess.Popen(self.psql(service), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")
        self.addCleanup(holder.communicate)
        holder.stdin.write("select pg_advisory_lock(hashtextextended('slipway garbage', 0));\n\\echo held\n")
        holder.stdin.flush()
        while "held" not in holder.stdout.readline():
            pass
        job = service.submit(points_job(train={"epochs": ENDLESS_EPOCHS}, checkpoint={"every_steps": 5, "keep_last": 1}))
        folder = service.home / "store/checkpoints" / job
        wait_for(lambda: folder.exists() and len(list(folder.iterdir())) > 10, "checkpoints that wait for their removal")
        self.assertEqual(slipwayd("backup", self.folder / "b", "--home", service.home, check=None).returncode, 3)
        self.assertEqual(list((self.folder / "b").iterdir()), [])
        holder.stdin.write("select pg_advisory_unlock_all();\n")
        holder.stdin.flush()
        service.post(f"/v1/jobs/{job}/cancel", {})
        service.wait_end(job)
        wait_for(lambda: len(list(folder.iterdir())) <= 3, "their removal")

    def psql(self, service):
        lines = (service.home / "postgres/data/postmaster.pid").read_text().splitlines()
        command = ["psql", "-h", lines[4], "-p", lines[3], "-U", "slipway", "-d", "slipway", "-At"]
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command] if os.getuid() == 0 else command

    def refused(self, words, code, *reasons):
        done = slipwayd(*words, check=code)
        for reason in reasons:
            self.assertIn(reason, done.stderr)

    def test_what_cannot_be_restored_is_refused_and_leaves_nothing(self):
        service = self.service()
        service.start()
        write_points(service.data / "points")
        service.dataset("points", "csv", {"group_column": "family"})
        service.wait_end(service.submit(points_job()))
        (name,) = slipwayd("backup", self.folder / "backups", "--home", service.home).stdout.split()
        backup, home = pathlib.Path(name), self.folder / "home"
        self.refused(["restore", backup, "--home", service.home], 3, "in use by a slipwayd")
        service.stop()
        self.refused(["restore", backup, "--home", service.home], 3, "not empty", "--home")
        self.refused(["restore", self.folder, "--home", home], 1, "no backup")
        self.refused(["backup", service.home / "store/here", "--home", service.home], 2, "is in the store")

        (weights,) = list(backup.glob("files/store/checkpoints/*/*/model.safetensors"))[:1]
        whole = weights.read_bytes()
        weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.refused(["restore", backup, "--home", home], 1, "damaged", str(weights))
        weights.write_bytes(whole)
        dump = backup / "database.dump"
        bytes_of_dump = dump.read_bytes()
        dump.write_bytes(bytes_of_dump[:-100])
        self.refused(["restore", backup, "--home", home], 1, "damaged", str(dump))
        dump.write_bytes(bytes_of_dump)
        report = json.loads((backup / "backup.json").read_text())
        (backup / "backup.json").write_text(json.dumps({**report, "schema": 9999, "version": "99.0"}))
        self.refused(["restore", backup, "--home", home], 3, "99.0", "9999")
        (backup / "backup.json").write_text(json.dumps(report))
        # A home that a failed restore has left is as it was: the next one goes through.
        slipwayd("restore", backup, "--home", home)
        self.assertTrue((home / "admin-token").exists())

    def test_a_checkpoint_that_is_missing_in_the_store_fails_the_backup(self):
        service = self.service()
        service.verifies = False
        service.start()
        write_points(service.data / "points")
        service.dataset("points", "csv", {"group_column": "family"})
        job = service.submit(points_job())
        service.wait_end(job)
        (service.home / "store/checkpoints" / job).rename(service.home / "moved")
        self.refused(["backup", self.folder / "backups", "--home", service.home], 1, "missing in the store", job)
        self.assertEqual(list((self.folder / "backups").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
