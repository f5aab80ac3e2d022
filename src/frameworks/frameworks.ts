import type { Framework } from "../job/spec.ts";
import { dask } from "./dask.ts";
import { deepspeed } from "./deepspeed.ts";
import type { FrameworkDefinition } from "./framework.ts";
import { generic } from "./generic.ts";
import { horovod } from "./horovod.ts";
import { jax } from "./jax.ts";
import { mpi } from "./mpi.ts";
import { mxnet } from "./mxnet.ts";
import { pytorch } from "./pytorch.ts";
import { ray } from "./ray.ts";
import { standalone } from "./standalone.ts";
import { tensorflow } from "./tensorflow.ts";
import { torchrun } from "./torchrun.ts";

export const frameworks: { readonly [F in Framework]: FrameworkDefinition } = {
  dask,
  deepspeed,
  generic,
  horovod,
  jax,
  mpi,
  mxnet,
  pytorch,
  ray,
  standalone,
  tensorflow,
  torchrun,
};
