"""Between-graph training with a parameter server: every worker runs its own copy of the graph, the variables live on the ps task.

CLUSTER_SPEC, JOB_NAME and TASK_INDEX come from tony-ts. A parameter server never ends by itself: tony-ts stops it when the workers are done.
"""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow.compat.v1 as tf

STEPS = int(os.environ.get("STEPS", "200"))
role, index = os.environ["JOB_NAME"], int(os.environ["TASK_INDEX"])
cluster = tf.train.ClusterSpec(json.loads(os.environ["CLUSTER_SPEC"]))
# tony-ts brings what is saved here to HDFS, and back before the job starts again.
checkpoints = os.environ.get("TONY_CHECKPOINT_LOCAL_DIR") or "checkpoints"
checkpoint = os.environ.get("TONY_CHECKPOINT")


def report_progress(step, saved):
    """Tells tony-ts how far the training is, and that a checkpoint is complete: TensorFlow names one by how its files begin."""
    file = os.environ.get("TONY_PROGRESS_FILE")
    if file:
        with open(file, "a", encoding="utf-8") as progress:
            progress.write(json.dumps({"step": int(step), "checkpoint": os.path.abspath(saved)}) + "\n")


def batches():
    """Points in the plane, labelled by the side of a circle they are on."""
    random = np.random.default_rng(index)
    while True:
        points = random.uniform(-1, 1, size=(64, 2)).astype(np.float32)
        yield points, (np.square(points).sum(axis=1) < 0.5).astype(np.int64)


def run_worker(server):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        points = tf.placeholder(tf.float32, [None, 2])
        labels = tf.placeholder(tf.int64, [None])
        weights = tf.get_variable("hidden", [2, 32], initializer=tf.glorot_uniform_initializer(seed=1))
        bias = tf.get_variable("hidden_bias", [32], initializer=tf.zeros_initializer())
        readout = tf.get_variable("readout", [32, 2], initializer=tf.glorot_uniform_initializer(seed=2))
        readout_bias = tf.get_variable("readout_bias", [2], initializer=tf.zeros_initializer())
        logits = tf.matmul(tf.nn.relu(tf.matmul(points, weights) + bias), readout) + readout_bias
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        train = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=step)

    # A worker needs the parameter servers alone: it neither waits for the other workers nor minds that they end.
    config = tf.ConfigProto(
        device_filters=["/job:ps", f"/job:worker/task:{index}"],
        intra_op_parallelism_threads=1,
        inter_op_parallelism_threads=1,
    )
    chief = index == 0
    sessions = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=1)
    if chief:
        os.makedirs(checkpoints, exist_ok=True)
        # The chief writes the files itself: they are to be in its container.
        with tf.device(f"/job:worker/task:{index}/cpu:0"):
            saver = tf.train.Saver()
        init = tf.global_variables_initializer()
        session = sessions.prepare_session(
            server.target, init_op=init, saver=saver, checkpoint_filename_with_path=checkpoint, config=config
        )
    else:
        session = sessions.wait_for_session(server.target, config=config)

    source = batches()
    # The step counts the turns of all workers.
    done = session.run(step) // cluster.num_tasks("worker") if checkpoint else 0
    if checkpoint:
        print(f"resumed from {checkpoint}, turn {done}")
    reached, share = session.run(step), 0.0
    for turn in range(done + 1, STEPS + 1):
        inputs, truth = next(source)
        _, reached, share, cost = session.run([train, step, accuracy, loss], {points: inputs, labels: truth})
        if turn % 50 == 0:
            print(f"step {turn}/{STEPS}  loss {cost:.3f}  accuracy {share * 100:.1f} %")
            if chief:
                report_progress(reached, saver.save(session, os.path.join(checkpoints, "model"), global_step=step))
    print(f"worker {index} done, the model at step {reached}, accuracy {share * 100:.1f} %")
    session.close()


def main():
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    server = tf.train.Server(cluster, job_name=role, task_index=index)
    print(f"{role}:{index} serves at {cluster.task_address(role, index)}")
    if role == "ps":
        server.join()
    else:
        run_worker(server)


if __name__ == "__main__":
    main()
