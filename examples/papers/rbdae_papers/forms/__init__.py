"""Equations of the forms paper, [SNS15]."""
