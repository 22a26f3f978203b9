// Jobs that do nothing, through graphile-worker or pg-boss: how many a second they claim and finish. Each in the way that is
// fastest of those that its documentation has: graphile-worker with 64 jobs at a time in one process, pg-boss by its own fetch
// and complete of 64 jobs a call, from 16 loops. Jobs are there before the clock starts.
//   usage: node peers.mjs NAME DATABASE_URL JOBS
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");

async function graphileWorker(url, jobs) {
    const { Logger, makeWorkerUtils, run } = require("graphile-worker");
    const logger = new Logger(() => () => {});
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    await utils.migrate();
    await utils.withPgClient((client) =>
        client.query("select graphile_worker.add_job('none', json_build_object('n', n)) from generate_series(1, $1::int) as n",
                     [jobs]));
    await utils.release();
    let ended = 0;
    let all;
    const done = new Promise((resolve) => { all = resolve; });
    const begin = performance.now();
    const runner = await run({
        connectionString: url, logger, concurrency: 64, maxPoolSize: 20, noHandleSignals: true,
        taskList: { none: async () => { if (++ended === jobs) all(); } },
    });
    await done;
    await runner.stop();    // what has ended is written before it returns
    const seconds = (performance.now() - begin) / 1000;
    return [seconds, "select count(*)::int as left from graphile_worker.jobs"];
}

async function pgBoss(url, jobs) {
    const PgBoss = require("pg-boss");
    const boss = new PgBoss({ connectionString: url, max: 20, supervise: false, schedule: false });
    await boss.start();
    await boss.createQueue("none");
    for (let first = 0; first < jobs; first += 1000)
        await boss.insert(Array.from({ length: Math.min(1000, jobs - first) }, (_, n) => ({ name: "none", data: { n: first + n } })));
    const begin = performance.now();
    let ended = 0;
    await Promise.all(Array.from({ length: 16 }, async () => {
        while (ended < jobs) {
            const batch = await boss.fetch("none", { batchSize: 64 });
            if (batch.length === 0) break;
            await boss.complete("none", batch.map((job) => job.id));
            ended += batch.length;
        }
    }));
    const seconds = (performance.now() - begin) / 1000;
    await boss.stop({ graceful: false });
    return [seconds, "select count(*)::int as left from pgboss.job where state <> 'completed'"];
}

const peers = { "graphile-worker": graphileWorker, "pg-boss": pgBoss };

const [name, url, count] = process.argv.slice(2);
const jobs = Number(count);
if (!(name in peers) || !url || !(jobs > 0)) {
    console.error("usage: node peers.mjs NAME DATABASE_URL JOBS; NAME is one of " + Object.keys(peers).join(", "));
    process.exit(2);
}
const [seconds, unfinished] = await peers[name](url, jobs);
const { Client } = require("pg");
const client = new Client({ connectionString: url });
await client.connect();
const { left } = (await client.query(unfinished)).rows[0];
await client.end();
if (left !== 0) throw new Error(`${name} has left ${left} of ${jobs} jobs`);
console.log(`${name} ${require(name + "/package.json").version}: ${Math.round(jobs / seconds)} jobs a second`);
process.exit(0);
