"""A method as a user writes it, in a file outside the project: an EMA teacher votes, and visits are counted."""

from methods.base import Method, Module
from methods.pseudo_labels import majority_targets
from methods.teacher import TeacherPlan


class OwnMethod(Method):
    """Majority of the teacher's answers, with a memory."""

    name = "own_method"
    summary = "majority of a teacher, in a plugin"
    module = Module.CONSTRUCTION
    stateful = True

    def __init__(self, options=None):
        super().__init__(options)
        self.visits: dict[str, int] = {}

    @property
    def teacher(self):
        return TeacherPlan(rollouts=4, first_rate=0.5, last_rate=0.5, anchors=True)

    def targets(self, groups):
        for index in sorted(set(groups.index.tolist())):
            self.visits[str(index)] = self.visits.get(str(index), 0) + 1
        self.report = {"visits": float(sum(self.visits.values()))}
        return majority_targets(groups, groups.teacher_answers)

    def state_dict(self):
        return {"visits": dict(sorted(self.visits.items()))}

    def load_state_dict(self, state):
        self.visits = dict(state["visits"])
