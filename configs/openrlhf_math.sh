#!/usr/bin/env bash
# The shape of an OpenRLHF 0.11 launch on a GPU cluster, from this checkout, after `ray start --head`. Not run here: it
# needs CUDA, a model and a data set with the columns `problem` and `answer`.
set -euo pipefail
: "${MODEL:?a model directory}" "${DATA:?a JSONL of problems and answers}" "${GPUS:=8}"

# every node finds astuner and the judge's YAML in the working directory that Ray ships
ray job submit --address http://127.0.0.1:8265 \
    --runtime-env-json '{"working_dir": ".", "pip": ["."]}' -- \
    python3 -m openrlhf.cli.train_ppo_ray \
    --actor.num_nodes 1 --actor.num_gpus_per_node "$GPUS" \
    --vllm.num_engines "$GPUS" \
    --actor.model_name_or_path "$MODEL" \
    --data.prompt_dataset "$DATA" \
    --data.input_key problem \
    --data.label_key answer \
    --data.apply_chat_template \
    --rollout.n_samples_per_prompt 16 \
    --algo.advantage.estimator group_norm \
    --reward.remote_url configs/openrlhf_math_reward.py
# Over HTTP instead, the same judge behind the reward service on one host or many:
#   --reward.remote_url http://reward-1:8000/openrlhf,http://reward-2:8000/openrlhf
