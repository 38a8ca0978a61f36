"""Pastes of the two tools, as they print them."""

from __future__ import annotations

import pytest

from attestations.environment import Environment
from attestations.pastes import LONGEST_PASTE, parse_collect_env, parse_nvidia_smi, read_paste

COLLECT_ENV = """\
Collecting environment information...
PyTorch version: 2.11.0+cu130
Is debug build: False
CUDA used to build PyTorch: 13.0
ROCM used to build PyTorch: N/A

OS: Ubuntu 24.04.3 LTS (x86_64)
GCC version: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
Libc version: glibc-2.39

Python version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0] (64-bit runtime)
Is CUDA available: True
CUDA runtime version: 13.0.88
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration: GPU 0: NVIDIA H200
Nvidia driver version: 580.159.04
cuDNN version: Could not collect

CPU:
Architecture:                         x86_64
Model name:                           INTEL(R) XEON(R) PLATINUM 8558

Versions of relevant libraries:
[pip3] numpy==2.3.5
[pip3] nvidia-cudnn-cu13==9.13.0.50
[pip3] torch==2.11.0
[pip3] triton==3.6.0
[conda] Could not collect
"""
SEVERAL = """\
PyTorch version: 2.9.0
CUDA used to build PyTorch: N/A
ROCM used to build PyTorch: 6.4.43482
GPU models and configuration:
GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)
GPU 1: NVIDIA H100 PCIe (UUID: GPU-2)

Nvidia driver version: 570.1
"""
NVIDIA_SMI = """\
==============NVSMI LOG==============

Timestamp                                              : Sat Aug  1 10:00:00 2026
Driver Version                                         : 580.159.04
CUDA Version                                           : 13.0

Attached GPUs                                          : 1
GPU 00000000:18:00.0
    Product Name                                       : NVIDIA H200
    Product Brand                                      : NVIDIA
    Product Architecture                               : Hopper
    Clocks
        Graphics                                       : 345 MHz
        SM                                             : 345 MHz
"""


def test_collect_env_is_read():
    assert parse_collect_env(COLLECT_ENV) == Environment(
        gpu="NVIDIA H200",
        driver="580.159.04",
        toolkit="CUDA 13.0",
        framework="pytorch 2.11.0+cu130",
        libraries={"nvidia-cudnn-cu13": "9.13.0.50", "triton": "3.6.0"},
    )


def test_several_gpus_of_one_model_are_that_model_and_rocm_is_no_cuda():
    found = parse_collect_env(SEVERAL)
    assert (found.gpu, found.toolkit, found.driver) == ("NVIDIA H100 PCIe", "ROCm 6.4.43482", "570.1")


def test_gpus_that_differ_say_nothing():
    assert parse_collect_env(SEVERAL.replace("GPU 1: NVIDIA H100 PCIe", "GPU 1: NVIDIA L4")).gpu == ""
    two = NVIDIA_SMI + "    Product Name                                       : NVIDIA L4\n"
    assert parse_nvidia_smi(two).gpu == ""


def test_nvidia_smi_is_read():
    assert parse_nvidia_smi(NVIDIA_SMI) == Environment(gpu="NVIDIA H200", driver="580.159.04", toolkit="CUDA 13.0")


@pytest.mark.parametrize(("text", "gpu"), [(COLLECT_ENV, "NVIDIA H200"), (NVIDIA_SMI, "NVIDIA H200"), ("hello", "")])
def test_which_tool_it_was_is_seen_from_the_text(text, gpu):
    assert read_paste(text).gpu == gpu


@pytest.mark.parametrize(
    "text",
    ["", ":" * 100_000, "a" * LONGEST_PASTE, "GPU 0: " + "x" * 100_000, " " * LONGEST_PASTE + ":", "a" + " " * 100_000],
    ids=range(6),
)
def test_hostile_pastes_are_read_in_no_time_and_give_short_values(text):
    found = read_paste(text)
    assert all(len(value) <= 200 for value in (found.gpu, found.driver, found.toolkit, found.framework))


def test_what_it_reads_has_no_hidden_characters():
    assert read_paste("Nvidia driver version: 580\u202e.1\u200b").driver == "580.1"
