"""Every kind by name, with the type of its spec."""

from runs.manifests.kinds.environment import ExecutionEnvironment
from runs.manifests.kinds.implementation import ImplementationRevision
from runs.manifests.kinds.operation import OperationSpec
from runs.manifests.kinds.project import SoftwareProject
from runs.manifests.kinds.protocol import BenchmarkProtocol
from runs.manifests.kinds.run import BenchmarkRun
from runs.manifests.kinds.serving import SERVING_KINDS, ServingSpec
from runs.manifests.kinds.workload import WorkloadCase, WorkloadSuite

Spec = (
    SoftwareProject
    | OperationSpec
    | WorkloadCase
    | WorkloadSuite
    | ImplementationRevision
    | BenchmarkProtocol
    | ExecutionEnvironment
    | BenchmarkRun
    | ServingSpec
)

KERNEL_KINDS: dict[str, type[Spec]] = {
    model.__name__: model
    for model in (
        SoftwareProject,
        OperationSpec,
        WorkloadCase,
        WorkloadSuite,
        ImplementationRevision,
        BenchmarkProtocol,
        ExecutionEnvironment,
        BenchmarkRun,
    )
}
"""The kinds of kernel records; what a record refers to comes before it."""

SPECS: dict[str, type[Spec]] = KERNEL_KINDS | dict.fromkeys(SERVING_KINDS, ServingSpec)
"""The type of the spec of every kind."""
