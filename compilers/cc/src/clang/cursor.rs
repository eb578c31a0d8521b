//! A cursor: one node of a unit's tree, and what is known about its type and place.
#![expect(non_upper_case_globals, reason = "the names of libclang's constants")]

use super::fields::{Leaf, first_pointer, leaves};
use super::unit::{expansion, spelling};
use super::{RawPlace, owned};
use clang_sys::{
    CX_StorageClass, CXChildVisit_Continue, CXChildVisitResult, CXClientData, CXCursor,
    CXCursorKind, CXEval_Float, CXEval_Int, CXEval_StrLiteral, CXLinkage_External,
    CXLinkage_Internal, CXTLS_None, CXType, CXType_Bool, CXType_ConstantArray, CXType_Double,
    CXType_Enum, CXType_Float, CXType_FunctionNoProto, CXType_FunctionProto,
    CXType_IncompleteArray, CXType_Int128, CXType_Invalid, CXType_Pointer, CXType_Unexposed,
    CXType_VariableArray, clang_Cursor_Evaluate, clang_Cursor_getArgument,
    clang_Cursor_getNumArguments, clang_Cursor_getOffsetOfField, clang_Cursor_getStorageClass,
    clang_Cursor_getVarDeclInitializer, clang_Cursor_isNull, clang_EvalResult_dispose,
    clang_EvalResult_getAsDouble, clang_EvalResult_getAsLongLong, clang_EvalResult_getAsStr,
    clang_EvalResult_getKind, clang_Location_isInSystemHeader, clang_Type_getAlignOf,
    clang_Type_getSizeOf, clang_getArrayElementType, clang_getCanonicalCursor,
    clang_getCanonicalType, clang_getCursorBinaryOperatorKind, clang_getCursorExtent,
    clang_getCursorKind, clang_getCursorLinkage, clang_getCursorLocation,
    clang_getCursorReferenced, clang_getCursorResultType, clang_getCursorSemanticParent,
    clang_getCursorSpelling, clang_getCursorTLSKind, clang_getCursorType, clang_getCursorUSR,
    clang_getCursorUnaryOperatorKind, clang_getPointeeType, clang_getRangeEnd, clang_getRangeStart,
    clang_getTypeDeclaration, clang_getTypeSpelling, clang_isConstQualifiedType,
    clang_isCursorDefinition, clang_isFunctionTypeVariadic, clang_isVolatileQualifiedType,
    clang_visitChildren,
};
use std::ffi::CStr;
use std::marker::PhantomData;

/// The kinds of cursors that matter here.
pub(crate) mod kind {
    pub(crate) use clang_sys::{
        CXCursor_ArraySubscriptExpr as ARRAY_SUBSCRIPT, CXCursor_AsmStmt as ASSEMBLER,
        CXCursor_BinaryOperator as BINARY, CXCursor_BreakStmt as BREAK,
        CXCursor_CStyleCastExpr as CAST, CXCursor_CallExpr as CALL, CXCursor_CaseStmt as CASE,
        CXCursor_CharacterLiteral as CHARACTER, CXCursor_CompoundAssignOperator as COMPOUND_ASSIGN,
        CXCursor_CompoundLiteralExpr as LITERAL, CXCursor_CompoundStmt as BLOCK,
        CXCursor_ConditionalOperator as CHOICE, CXCursor_ContinueStmt as CONTINUE,
        CXCursor_DeclRefExpr as DECL_REF, CXCursor_DeclStmt as DECLARATION,
        CXCursor_DefaultStmt as DEFAULT, CXCursor_DoStmt as DO,
        CXCursor_EnumConstantDecl as ENUM_CONSTANT, CXCursor_EnumDecl as ENUM,
        CXCursor_FieldDecl as FIELD, CXCursor_FloatingLiteral as FLOATING, CXCursor_ForStmt as FOR,
        CXCursor_FunctionDecl as FUNCTION, CXCursor_GotoStmt as GOTO, CXCursor_IfStmt as IF,
        CXCursor_IndirectGotoStmt as COMPUTED_GOTO, CXCursor_InitListExpr as INIT_LIST,
        CXCursor_IntegerLiteral as INTEGER, CXCursor_LabelStmt as LABEL,
        CXCursor_MacroDefinition as MACRO_DEFINITION, CXCursor_MemberRef as DESIGNATOR,
        CXCursor_MemberRefExpr as MEMBER_REF, CXCursor_ParenExpr as PAREN,
        CXCursor_ParmDecl as PARAMETER, CXCursor_ReturnStmt as RETURN,
        CXCursor_StmtExpr as STATEMENT_EXPRESSION, CXCursor_StructDecl as STRUCT,
        CXCursor_TranslationUnit as UNIT, CXCursor_TypedefDecl as TYPEDEF,
        CXCursor_UnaryExpr as SIZEOF, CXCursor_UnaryOperator as UNARY,
        CXCursor_UnexposedExpr as UNEXPOSED, CXCursor_UnionDecl as UNION,
        CXCursor_VarDecl as VARIABLE, CXCursor_WhileStmt as WHILE,
    };
}

/// What a name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    External,
    Internal,
    None,
}

/// What a variable holds, or the elements of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Element {
    /// A whole number.
    Integer,
    /// A `float` or `double`.
    Floating,
    /// Anything else.
    #[default]
    Other,
}

/// What is known about a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeInfo {
    /// As written.
    pub(crate) spelling: String,
    /// Without typedefs.
    pub(crate) canonical: String,
    /// In bytes; 0 if it is not known.
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) is_const: bool,
    pub(crate) is_volatile: bool,
    pub(crate) is_array: bool,
    pub(crate) is_pointer: bool,
    /// A function without a prototype.
    pub(crate) is_unprototyped: bool,
    pub(crate) is_variadic: bool,
    /// It, or its elements, have a type that is declared inside a function.
    pub(crate) is_local: bool,
    /// What it holds, or its elements.
    pub(crate) element: Element,
    /// The numbers of a record that consists of whole numbers; none of anything else.
    pub(crate) leaves: Vec<Leaf>,
}

/// One node.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'u> {
    raw: CXCursor,
    unit: PhantomData<&'u ()>,
}

// SAFETY of every call below: the cursor is of a unit that lives at least as long as `'u`, and the
// functions read only.
macro_rules! ask {
    ($function:ident, $($argument:expr),+) => {
        // SAFETY: the arguments belong to a unit that is live for 'u; the function only reads.
        unsafe { $function($($argument),+) }
    };
}

impl<'u> Cursor<'u> {
    pub(super) fn of(raw: CXCursor) -> Self {
        Self {
            raw,
            unit: PhantomData,
        }
    }

    fn some(raw: CXCursor) -> Option<Self> {
        let is_null = ask!(clang_Cursor_isNull, raw) != 0;
        (!is_null).then(|| Self::of(raw))
    }

    pub(crate) fn kind(self) -> CXCursorKind {
        ask!(clang_getCursorKind, self.raw)
    }

    pub(crate) fn name(self) -> String {
        owned(ask!(clang_getCursorSpelling, self.raw))
    }

    /// The same for all declarations of one thing.
    pub(crate) fn usr(self) -> String {
        owned(ask!(clang_getCursorUSR, self.raw))
    }

    /// All children, in the order of the text.
    pub(crate) fn children(self) -> Vec<Self> {
        extern "C" fn visit(
            cursor: CXCursor,
            _: CXCursor,
            data: CXClientData,
        ) -> CXChildVisitResult {
            // SAFETY: `data` is the vector below, which is borrowed by this call alone.
            let found = unsafe { &mut *data.cast::<Vec<CXCursor>>() };
            found.push(cursor);
            CXChildVisit_Continue
        }
        let mut found: Vec<CXCursor> = Vec::new();
        ask!(
            clang_visitChildren,
            self.raw,
            visit,
            (&raw mut found).cast()
        );
        found.into_iter().map(Self::of).collect()
    }

    /// What a name refers to.
    pub(crate) fn referenced(self) -> Option<Self> {
        Self::some(ask!(clang_getCursorReferenced, self.raw))
    }

    pub(crate) fn is_definition(self) -> bool {
        ask!(clang_isCursorDefinition, self.raw) != 0
    }

    pub(crate) fn parent(self) -> Option<Self> {
        Self::some(ask!(clang_getCursorSemanticParent, self.raw))
    }

    pub(crate) fn initialiser(self) -> Option<Self> {
        Self::some(ask!(clang_Cursor_getVarDeclInitializer, self.raw))
    }

    pub(crate) fn linkage(self) -> Linkage {
        let linkage = ask!(clang_getCursorLinkage, self.raw);
        match linkage {
            CXLinkage_External => Linkage::External,
            CXLinkage_Internal => Linkage::Internal,
            _ => Linkage::None,
        }
    }

    pub(crate) fn is_static(self) -> bool {
        self.storage() == clang_sys::CX_SC_Static
    }

    pub(crate) fn is_extern(self) -> bool {
        self.storage() == clang_sys::CX_SC_Extern
    }

    fn storage(self) -> CX_StorageClass {
        ask!(clang_Cursor_getStorageClass, self.raw)
    }

    pub(crate) fn is_thread_local(self) -> bool {
        ask!(clang_getCursorTLSKind, self.raw) != CXTLS_None
    }

    /// Parameters of a function, or arguments of a call.
    pub(crate) fn arguments(self) -> Vec<Self> {
        let count = ask!(clang_Cursor_getNumArguments, self.raw);
        (0..u32::try_from(count).unwrap_or(0))
            .map(|number| Self::of(ask!(clang_Cursor_getArgument, self.raw, number)))
            .collect()
    }

    /// Where it was written: in a macro's body, or as a macro's argument.
    pub(crate) fn spelled(self) -> Option<RawPlace> {
        spelling(ask!(clang_getCursorLocation, self.raw))
    }

    /// Where it takes effect: at the use of the outermost macro.
    pub(crate) fn expanded(self) -> Option<RawPlace> {
        expansion(ask!(clang_getCursorLocation, self.raw))
    }

    /// First byte and byte after the last, where the text takes effect.
    pub(crate) fn extent(self) -> Option<(RawPlace, RawPlace)> {
        let range = ask!(clang_getCursorExtent, self.raw);
        let start = expansion(ask!(clang_getRangeStart, range))?;
        let end = expansion(ask!(clang_getRangeEnd, range))?;
        Some((start, end))
    }

    /// As [`Self::extent`], where the text was written.
    pub(crate) fn spelled_extent(self) -> Option<(RawPlace, RawPlace)> {
        let range = ask!(clang_getCursorExtent, self.raw);
        let start = spelling(ask!(clang_getRangeStart, range))?;
        let end = spelling(ask!(clang_getRangeEnd, range))?;
        Some((start, end))
    }

    pub(crate) fn is_in_system_header(self) -> bool {
        let location = ask!(clang_getCursorLocation, self.raw);
        ask!(clang_Location_isInSystemHeader, location) != 0
    }

    /// clang's number of a binary operator; 22 is assignment.
    pub(crate) fn binary_operator(self) -> u32 {
        u32::try_from(ask!(clang_getCursorBinaryOperatorKind, self.raw)).unwrap_or(0)
    }

    /// clang's number of a unary operator.
    pub(crate) fn unary_operator(self) -> u32 {
        u32::try_from(ask!(clang_getCursorUnaryOperatorKind, self.raw)).unwrap_or(0)
    }

    /// The first declaration of what it declares.
    pub(crate) fn canonical(self) -> Self {
        Self::of(ask!(clang_getCanonicalCursor, self.raw))
    }

    /// Where a field begins in its record, in bits; below 0 if that is not known.
    pub(crate) fn field_offset(self) -> i64 {
        ask!(clang_Cursor_getOffsetOfField, self.raw)
    }

    /// The value of a constant, as text; empty if it is none.
    pub(crate) fn value(self) -> String {
        let result = ask!(clang_Cursor_Evaluate, self.raw);
        if result.is_null() {
            return String::new();
        }
        let text = match ask!(clang_EvalResult_getKind, result) {
            CXEval_Int => ask!(clang_EvalResult_getAsLongLong, result).to_string(),
            CXEval_Float => ask!(clang_EvalResult_getAsDouble, result).to_string(),
            CXEval_StrLiteral => {
                let pointer = ask!(clang_EvalResult_getAsStr, result);
                match pointer.is_null() {
                    true => String::new(),
                    // SAFETY: the library ends its texts with a zero; it lives until `dispose`.
                    false => unsafe { CStr::from_ptr(pointer) }
                        .to_string_lossy()
                        .into_owned(),
                }
            }
            _ => String::new(),
        };
        ask!(clang_EvalResult_dispose, result);
        text
    }

    /// What is known about its type.
    pub(crate) fn type_info(self) -> TypeInfo {
        {
            let given = ask!(clang_getCursorType, self.raw);
            describe(given)
        }
    }

    /// What is known about what a function returns.
    pub(crate) fn result_info(self) -> TypeInfo {
        describe(ask!(clang_getCursorResultType, self.raw))
    }

    /// The fields of its type, if that is a structure.
    pub(crate) fn fields(self) -> Vec<Self> {
        let ty = ask!(clang_getCursorType, self.raw);
        let canonical = ask!(clang_getCanonicalType, ty);
        let record = Self::of(ask!(clang_getTypeDeclaration, canonical));
        let mut members = record.children();
        members.retain(|member| member.kind() == kind::FIELD);
        members
    }

    /// Whether its type is a pointer to something that cannot be written through it.
    pub(crate) fn points_to_const(self) -> bool {
        let given = ask!(clang_getCursorType, self.raw);
        let canonical = ask!(clang_getCanonicalType, given);
        let pointee = ask!(clang_getPointeeType, canonical);
        canonical.kind == CXType_Pointer && ask!(clang_isConstQualifiedType, pointee) != 0
    }

    pub(super) fn raw_type(self) -> CXType {
        ask!(clang_getCursorType, self.raw)
    }

    /// Of a record, or of a pointer to one: how its name continues to the first pointer in it.
    pub(crate) fn held_pointer(self) -> Option<String> {
        let given = ask!(clang_getCursorType, self.raw);
        let mut record = ask!(clang_getCanonicalType, given);
        if record.kind == CXType_Pointer {
            record = ask!(clang_getPointeeType, record);
            record = ask!(clang_getCanonicalType, record);
            if record.kind == CXType_Pointer {
                return Some("*".to_owned());
            }
        }
        first_pointer(record, HELD_DEPTH_MAX).filter(|path| !path.is_empty())
    }

    /// Its type without typedefs, and how many bytes that has.
    pub(crate) fn plain_type(self) -> (String, i64) {
        let given = ask!(clang_getCursorType, self.raw);
        let canonical = ask!(clang_getCanonicalType, given);
        // Of a builtin function's type libclang must not be asked for a size.
        let is_sized = canonical.kind != CXType_Unexposed && canonical.kind != CXType_Invalid;
        let size = match is_sized {
            true => ask!(clang_Type_getSizeOf, canonical),
            false => -1,
        };
        (owned(ask!(clang_getTypeSpelling, canonical)), size)
    }

    /// Whether its type is an array, or a pointer.
    pub(crate) fn shape(self) -> (bool, bool) {
        let given = ask!(clang_getCursorType, self.raw);
        let canonical = ask!(clang_getCanonicalType, given);
        (is_array(canonical), canonical.kind == CXType_Pointer)
    }
}

/// Records in records, until which pointers are looked for.
const HELD_DEPTH_MAX: u32 = 64;

pub(super) fn is_array(canonical: CXType) -> bool {
    matches!(
        canonical.kind,
        CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray
    )
}

fn describe(given: CXType) -> TypeInfo {
    let canonical = ask!(clang_getCanonicalType, given);
    let mut element = canonical;
    // libclang moves an array's qualifiers from its elements to the array.
    let mut is_const = ask!(clang_isConstQualifiedType, element) != 0;
    let mut is_volatile = ask!(clang_isVolatileQualifiedType, element) != 0;
    while is_array(element) {
        let inner = ask!(clang_getArrayElementType, element);
        element = ask!(clang_getCanonicalType, inner);
        is_const |= ask!(clang_isConstQualifiedType, element) != 0;
        is_volatile |= ask!(clang_isVolatileQualifiedType, element) != 0;
    }
    let known = |size: i64| u64::try_from(size).unwrap_or(0);
    TypeInfo {
        spelling: owned(ask!(clang_getTypeSpelling, given)),
        canonical: owned(ask!(clang_getTypeSpelling, canonical)),
        size: known(ask!(clang_Type_getSizeOf, canonical)),
        align: known(ask!(clang_Type_getAlignOf, canonical)),
        is_const,
        is_volatile,
        is_array: is_array(canonical),
        is_pointer: canonical.kind == CXType_Pointer,
        is_unprototyped: canonical.kind == CXType_FunctionNoProto,
        is_variadic: canonical.kind == CXType_FunctionProto
            && ask!(clang_isFunctionTypeVariadic, canonical) != 0,
        is_local: is_declared_in_function(element),
        element: match element.kind {
            CXType_Bool..=CXType_Int128 | CXType_Enum => Element::Integer,
            CXType_Float | CXType_Double => Element::Floating,
            _ => Element::Other,
        },
        leaves: if is_const || is_volatile {
            Vec::new()
        } else {
            leaves(canonical)
        },
    }
}

/// Whether the type, or what it points to, is declared inside a function.
fn is_declared_in_function(given: CXType) -> bool {
    let mut inner = given;
    while inner.kind == CXType_Pointer || is_array(inner) {
        inner = if inner.kind == CXType_Pointer {
            ask!(clang_getPointeeType, inner)
        } else {
            ask!(clang_getArrayElementType, inner)
        };
        inner = ask!(clang_getCanonicalType, inner);
    }
    let declaration = ask!(clang_getTypeDeclaration, inner);
    let parent = ask!(clang_getCursorSemanticParent, declaration);
    ask!(clang_getCursorKind, parent) == kind::FUNCTION
}
