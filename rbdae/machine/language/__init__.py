"""A part of Python that becomes machine code: functions of numbers, arrays and records as LLVM IR."""
